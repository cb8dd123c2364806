<?php
// What PHP's two drivers get from `perfschema serve`, plain and compressed. Started by ci/clients with the port.

function same(string $what, mixed $found, mixed $expected): void
{
    if ($found !== $expected) {
        throw new Exception("$what: expected " . var_export($expected, true) . ", found " . var_export($found, true));
    }
}

function fails(int $number, callable $action): void
{
    try {
        $action();
    } catch (mysqli_sql_exception | PDOException $error) {
        same($error->getMessage(), $error instanceof PDOException ? $error->errorInfo[1] ?? $error->getCode() : $error->getCode(), $number);
        return;
    }
    throw new Exception("expected error $number");
}

mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
$port = (int) $argv[1];

function connect(string $user, string $password, int $options): mysqli
{
    global $port;
    $connection = mysqli_init();
    $connection->real_connect("127.0.0.1", $user, $password, "performance_schema", $port, null, $options);
    return $connection;
}

$compression = "SELECT variable_value FROM performance_schema.session_status WHERE variable_name = 'Compression'";
$long = str_repeat("größe ", 20_000);
foreach (["OFF" => 0, "ON" => MYSQLI_CLIENT_COMPRESS] as $is_on => $options) {
    fails(1045, fn() => connect("reader", "wrong", $options));
    $reader = connect("reader", "looks", $options);
    same("mysqli", $reader->query($compression)->fetch_row(), [$is_on]);
    same("rows", $reader->query("SELECT * FROM setup_timers")->num_rows, 5);
    $statement = $reader->prepare("SELECT ?, ? + 1, REPEAT('w', 300000), NULL, 1.5");
    foreach ([7, PHP_INT_MAX - 1] as $number) {
        $statement->bind_param("si", $long, $number);
        $statement->execute();
        same("a row", $statement->get_result()->fetch_row(), [$long, $number + 1, str_repeat("w", 300_000), null, "1.5"]);
    }
    fails(1054, fn() => $reader->query("SELECT nothing"));
    fails(1142, fn() => $reader->query("UPDATE setup_timers SET timer_name = 'TICK'"));
    $reader->multi_query("SELECT 1; SELECT 2");
    do {
        $results[] = $reader->store_result()->fetch_row()[0];
    } while ($reader->next_result());
    same("several statements", $results, ["1", "2"]);
    $results = [];
    same("change user", $reader->change_user("controller", "changes", "sys"), true);
    same("who", $reader->query("SELECT CURRENT_USER(), DATABASE()")->fetch_row(), ["controller@localhost", "sys"]);
    $reader->close();

    foreach ([true, false] as $emulates) {
        $options = [PDO::MYSQL_ATTR_COMPRESS => $is_on === "ON", PDO::ATTR_EMULATE_PREPARES => $emulates];
        $reader = new PDO("mysql:host=127.0.0.1;port=$port;dbname=performance_schema", "reader", "looks", $options);
        same("PDO", $reader->query($compression)->fetchColumn(), $is_on);
        $statement = $reader->prepare("SELECT name, timer_name FROM setup_timers WHERE name = :name AND :long <> ''");
        foreach (["wait", "idle"] as $name) {
            $statement->execute(["name" => $name, "long" => $long]);
            same("PDO's row", $statement->fetchAll(PDO::FETCH_ASSOC)[0]["name"] ?? null, $name);
        }
        fails(1146, fn() => $reader->query("SELECT * FROM nothing"));
    }
}
echo "PHP ", PHP_VERSION, "\n";
