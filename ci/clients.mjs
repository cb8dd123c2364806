// What Node's mysql2 gets from `perfschema serve`: above all prepared statements. Started by ci/clients with the port, and with a certificate
// if it is to encrypt.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// Where ci/clients has installed it.
const require = createRequire(`${process.argv[3]}/`);
const mysql = require("mysql2/promise");
const port = Number(process.argv[2]);

const ssl = process.argv[4] && { ca: readFileSync(process.argv[4]) };

const connect = (user, password, more) =>
    mysql.createConnection({ host: ssl ? "localhost" : "127.0.0.1", port, user, password, ssl, supportBigNumbers: true, ...more });
const fails = (number, promise) => assert.rejects(promise, (error) => (assert.equal(error.errno, number, error.message), true));

const reader = await connect("reader", "looks", { database: "performance_schema" });
await fails(1045, connect("reader", "wrong"));
await fails(1045, connect("nobody", "looks"));

if (ssl) {
    await fails(3159, connect("reader", "looks", { ssl: undefined }));
    const [[{ Value }]] = await reader.query("SHOW STATUS LIKE 'Ssl_version'");
    assert.equal(Value, "TLSv1.3");
}

// Values of parameters are values: never text of the statement.
const nasty = "'; TRUNCATE events_waits_history_long; -- ";
const [[row]] = await reader.execute("SELECT ? AS a, ? AS b, ? AS c, ? AS d", [nasty, 1.5, null, "größe"]);
assert.deepEqual({ ...row }, { a: nasty, b: 1.5, c: null, d: "größe" });

// All types, in both protocols the same.
const statement = `SELECT t.*, 18446744073709551615 AS big, -1 AS minus, 1.5 AS fraction, NULL AS nothing
    FROM performance_timers t ORDER BY timer_name`;
const [text] = await reader.query(statement);
const [binary, columns] = await reader.execute(statement);
assert.equal(text.length, 5);
for (let index = 0; index < 5; index++) {
    // Measured anew at each read.
    for (const name of ["TIMER_FREQUENCY", "TIMER_OVERHEAD", "TIMER_RESOLUTION"]) {
        assert.equal(typeof binary[index][name], typeof text[index][name], name);
        delete text[index][name];
        delete binary[index][name];
    }
}
assert.deepEqual(binary, text);
assert.equal(binary[0].big, "18446744073709551615");
assert.equal(columns[0].name, "TIMER_NAME");

// Exact numbers are the texts of their digits.
const exact = "SELECT 1 / 3 AS third, AVG(thread_id) > 0 AS is_average, SUM(18446744073709551615) AS big, 0.1 + 0.2 AS sum FROM threads LIMIT 1";
for (const [[{ third, is_average, sum }], [{ type, decimals }]] of [await reader.query(exact), await reader.execute(exact)]) {
    assert.deepEqual([third, is_average, sum, type, decimals], ["0.3333", 1, "0.3", 246, 4]);
}

// Moments are objects.
const moments = "SELECT TIMESTAMP'2026-11-24 12:30:00.25' AS moment, DATE'2026-11-24' AS day, TIME'-30:00:00' AS length";
for (const [[{ moment, day, length }]] of [await reader.query(moments), await reader.execute(moments)]) {
    assert.deepEqual([moment, day, length], [new Date(2026, 10, 24, 12, 30, 0, 250), new Date(2026, 10, 24), "-30:00:00"]);
}

// Documents arrive as what they say.
const documents = "SELECT JSON_OBJECT('a', JSON_ARRAY(1, 'é')) AS o, JSON_EXTRACT('{\"n\": 5}', '$.n') AS n, JSON_UNQUOTE('\"[1]\"') AS t";
for (const [[{ o, n, t }]] of [await reader.query(documents), await reader.execute(documents)]) {
    assert.deepEqual([o, n, t], [{ a: [1, "é"] }, 5, "[1]"]);
}

// One statement many times, several at once, more of them than are kept.
const like = "SELECT COUNT(*) AS n FROM setup_instruments WHERE name LIKE ?";
const [[{ n: all }]] = await reader.execute(like, ["%"]);
assert.ok(all > 0);
for (let round = 0; round < 100; round++) {
    const [[{ n }]] = await reader.execute(like, [round % 2 ? "%" : "x"]);
    assert.equal(n, round % 2 ? all : 0);
}
for (let number = 0; number < 100; number++) {
    assert.equal((await reader.execute(`SELECT ${number} + ? AS n`, [1]))[0][0].n, number + 1);
}
await fails(1054, reader.execute("SELECT nothing FROM threads WHERE thread_id = ?", [1]));
await fails(1142, reader.execute("UPDATE setup_instruments SET enabled = ?", ["NO"]));

// As somebody else, on the same connection.
await reader.changeUser({ user: "controller", password: "changes", database: "performance_schema" });
const [changed] = await reader.execute("UPDATE setup_timers SET timer_name = ? WHERE name = ?", ["NANOSECOND", "wait"]);
assert.equal(changed.affectedRows, 1);
await reader.execute("UPDATE setup_timers SET timer_name = ?", ["CYCLE"]);
await fails(1045, reader.changeUser({ user: "controller", password: "wrong" }));
reader.destroy();

// Compressed, in both directions.
const packed = await connect("reader", "looks", { compress: true });
const [[compression]] = await packed.query("SHOW STATUS LIKE 'Compression'");
assert.equal(compression.Value, "ON");
const long = "größe ".repeat(20_000);
const [[echo]] = await packed.execute("SELECT ? AS text, REPEAT('w', 300000) AS more", [long]);
assert.deepEqual([echo.text, echo.more.length], [long, 300_000]);
await packed.end();

// What one client sets, another does not see.
const [one, two] = await Promise.all([connect("reader", "looks"), connect("reader", "looks")]);
await one.query("SET sql_mode = 'ANSI'");
assert.notEqual((await two.query("SELECT @@sql_mode AS mode"))[0][0].mode, (await one.query("SELECT @@sql_mode AS mode"))[0][0].mode);
await Promise.all([one.end(), two.end()]);
console.log("mysql2", require("mysql2/package.json").version);
