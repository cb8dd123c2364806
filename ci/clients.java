// What MariaDB's Connector/J, which speaks to MySQL's servers, too, gets from `perfschema serve`, and HikariCP over it. Started by ci/clients
// with the port, and with a certificate if it is to encrypt.

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.*;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

class Clients {
    static String port, tls;
    static final String ENDLESS = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
    static final String QUEUE = "wait/synch/mutex/demo/queue";

    interface Action {
        void run() throws SQLException;
    }

    static void same(String what, Object found, Object expected) {
        if (!Objects.equals(found, expected)) throw new AssertionError(what + ": expected " + expected + ", found " + found);
    }

    static void fails(int number, String state, Action action) throws SQLException {
        try {
            action.run();
        } catch (SQLException error) {
            same(error.toString(), error.getErrorCode() + " " + error.getSQLState(), number + " " + state);
            return;
        }
        throw new AssertionError("expected error " + number);
    }

    static String url(String options) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/performance_schema?" + tls + options;
    }

    static Connection connect(String user, String password, String options) throws SQLException {
        return DriverManager.getConnection(url(options), user, password);
    }

    static Connection control(String options) throws SQLException {
        return connect("controller", "changes", options);
    }

    /** Some columns of each row. */
    static List<String> rows(ResultSet found, String... columns) throws SQLException {
        List<String> rows = new ArrayList<>();
        while (found.next()) {
            List<String> row = new ArrayList<>();
            for (String column : columns) row.add(found.getString(column));
            rows.add(String.join(" ", row));
        }
        return rows;
    }

    static ResultSet first(PreparedStatement statement) throws SQLException {
        ResultSet found = statement.executeQuery();
        same("a row", found.next(), true);
        return found;
    }

    public static void main(String[] arguments) throws Exception {
        port = arguments[0];
        tls = arguments.length > 1 ? "useSSL=true&serverSslCert=" + arguments[1] + "&" : "";
        logins();
        metadata();
        // What is sent as text, and what as binary.
        for (String prepared : List.of("useServerPrepStmts=false", "useServerPrepStmts=true&cachePrepStmts=true")) {
            values(prepared);
            parameters(prepared);
            changes(prepared);
            procedures(prepared);
        }
        sessions();
        interruptions();
        pool();
        try (Connection connection = control("")) {
            DatabaseMetaData about = connection.getMetaData();
            System.out.println(about.getDriverName() + " " + about.getDriverVersion());
        }
        // The pool's threads are not waited for.
        System.exit(0);
    }

    static void logins() throws SQLException {
        for (var login : Map.of("reader", "looks", "controller", "changes", "old", "native").entrySet()) {
            try (Connection connection = connect(login.getKey(), login.getValue(), "")) {
                var found = first(connection.prepareStatement("SELECT CURRENT_USER, @@version, (SELECT VARIABLE_VALUE FROM "
                    + "information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_version')"));
                same("user", found.getString(1), login.getKey() + "@localhost");
                same("version", found.getString(2), connection.getMetaData().getDatabaseProductVersion());
                same("TLS", found.getString(3), tls.isEmpty() ? "" : "TLSv1.3");
            }
        }
        fails(1045, "28000", () -> connect("reader", "wrong", ""));
        fails(1045, "28000", () -> connect("reader", "", ""));
        fails(1049, "42000", () -> DriverManager.getConnection(url("").replace("performance_schema", "nothing"), "reader", "looks"));
        if (!tls.isEmpty()) {
            fails(3159, "HY000", () -> DriverManager.getConnection("jdbc:mariadb://127.0.0.1:" + port + "/", "reader", "looks"));
            // Nobody that Java knows vouches for it.
            fails(-1, "08000", () -> DriverManager.getConnection("jdbc:mariadb://127.0.0.1:" + port + "/?useSSL=true", "reader", "looks"));
        }
        try (Connection packed = connect("reader", "looks", "useCompression=true"); Statement statement = packed.createStatement()) {
            String text = "größe ".repeat(20_000);
            ResultSet found = statement.executeQuery("SELECT '" + text + "', VARIABLE_VALUE, REPEAT('w', 300000) FROM session_status "
                + "WHERE VARIABLE_NAME = 'Compression'");
            same("a compressed row", found.next(), true);
            same("compressed text", found.getString(1), text);
            same("compressed", found.getString(2) + " " + found.getString(3).length(), "ON 300000");
        }
        for (String options : List.of("sessionVariables=sql_mode='ANSI',wait_timeout=100", "serverTimezone=UTC"))
            connect("reader", "looks", options).close();
    }

    /** What tools show in their trees. */
    static void metadata() throws SQLException {
        try (Connection connection = connect("reader", "looks", "")) {
            DatabaseMetaData about = connection.getMetaData();
            same("catalogs", rows(about.getCatalogs(), "TABLE_CAT"), List.of("information_schema", "mysql", "performance_schema", "sys", "test"));
            String[] tables = {"TABLE"};
            same("tables", rows(about.getTables("performance_schema", null, "setup\\_%", tables), "TABLE_NAME", "TABLE_TYPE"),
                List.of("setup_actors TABLE", "setup_consumers TABLE", "setup_instruments TABLE", "setup_objects TABLE",
                    "setup_timers TABLE"));
            same("views", rows(about.getTables("sys", null, "version", new String[] {"VIEW"}), "TABLE_NAME"), List.of("version"));
            same("columns", rows(about.getColumns("performance_schema", null, "setup_instruments", null), "COLUMN_NAME", "DATA_TYPE",
                "TYPE_NAME", "COLUMN_SIZE", "IS_NULLABLE"), List.of("NAME 12 VARCHAR 128 NO", "ENABLED 12 ENUM 3 NO", "TIMED 12 ENUM 3 YES",
                "TIMED_ONE_IN 4 INT UNSIGNED 10 NO"));
            same("moments", rows(about.getColumns("performance_schema", null, "events_statements_summary_by_digest", "%SEEN"),
                "COLUMN_NAME", "DATA_TYPE"), List.of("FIRST_SEEN " + Types.TIMESTAMP, "LAST_SEEN " + Types.TIMESTAMP));
            same("functions", rows(about.getFunctions("sys", null, "format\\_t%"), "FUNCTION_NAME"), List.of("format_time"));
            same("arguments", rows(about.getFunctionColumns("sys", null, "ps_thread_id", "%"), "COLUMN_NAME", "DATA_TYPE"),
                List.of("null " + Types.BIGINT, "in_connection_id " + Types.BIGINT));
            same("procedures", rows(about.getProcedures("sys", null, "ps\\_setup\\_enable%"), "PROCEDURE_NAME"),
                List.of("ps_setup_enable_consumer", "ps_setup_enable_instrument"));
            same("parameters", rows(about.getProcedureColumns("sys", null, "ps_setup_enable_instrument", "%"), "COLUMN_NAME", "COLUMN_TYPE",
                "DATA_TYPE", "PRECISION"), List.of("in_pattern " + DatabaseMetaData.procedureColumnIn + " " + Types.VARCHAR + " 128"));
            same("key", rows(about.getPrimaryKeys("performance_schema", null, "setup_actors"), "COLUMN_NAME", "KEY_SEQ"),
                List.of("HOST 1", "ROLE 3", "USER 2"));
            for (ResultSet found : List.of(about.getPrimaryKeys("sys", null, "version"), about.getImportedKeys("sys", null, "version"),
                about.getIndexInfo("sys", null, "version", false, true), about.getTypeInfo(), about.getClientInfoProperties(),
                about.getTablePrivileges("sys", null, "version"), about.getColumnPrivileges("sys", null, "version", "%"))) rows(found);
        }
    }

    static void values(String options) throws SQLException {
        try (Connection connection = control(options)) {
            ResultSet found = first(connection.prepareStatement("SELECT 18446744073709551615 AS most, -1, 1.5, 'größe', NULL, TRUE, "
                + "CAST('2026-11-24 12:30:00.25' AS DATETIME(6)), DATE'2026-11-24', TIME'12:30:00', CAST('0000-00-00' AS DATETIME)"));
            ResultSetMetaData about = found.getMetaData();
            same("names", about.getColumnLabel(1) + " " + about.getColumnLabel(6), "most TRUE");
            same("unsigned", about.isSigned(1), false);
            same("signed", about.isSigned(2), true);
            same("types", about.getColumnTypeName(1) + ", " + about.getColumnTypeName(4), "BIGINT UNSIGNED, VARCHAR");
            BigInteger most = BigInteger.TWO.pow(64).subtract(BigInteger.ONE);
            same("object", found.getObject(1), most);
            same("decimal", found.getBigDecimal("most"), new BigDecimal(most));
            fails(1264, "22003", () -> found.getLong(1));
            same("numbers", found.getInt(2) + " " + found.getDouble(3) + " " + found.getBoolean(6), "-1 1.5 true");
            same("exact", found.getBigDecimal(3) + " " + about.getColumnTypeName(3) + " " + about.getPrecision(3) + " " + about.getScale(3),
                "1.5 DECIMAL 2 1");
            same("texts", found.getString(4) + found.getString(5), "größenull");
            same("datetime", found.getTimestamp(7), Timestamp.valueOf("2026-11-24 12:30:00.25"));
            same("date", found.getObject(8), java.sql.Date.valueOf("2026-11-24"));
            same("time", found.getTime(9), Time.valueOf("12:30:00"));
            same("no moment", found.getTimestamp(10), null);

            ResultSet exact = first(connection.prepareStatement("SELECT 1 / 3, SUM(COUNT_STAR), AVG(COUNT_STAR), SUM(18446744073709551615) "
                + "FROM events_waits_summary_global_by_event_name"));
            ResultSetMetaData digits = exact.getMetaData();
            same("third", exact.getBigDecimal(1), new BigDecimal("0.3333"));
            same("sum", exact.getObject(2).getClass() + " " + digits.getPrecision(2) + " " + digits.getScale(2), BigDecimal.class + " 42 0");
            same("average", exact.getBigDecimal(3).scale() + " " + digits.getPrecision(3) + " " + digits.getScale(3), "4 24 4");
            same("large", exact.getBigDecimal(4).remainder(new BigDecimal(most)).signum(), 0);

            ResultSet digests = first(connection.prepareStatement("SELECT * FROM events_statements_summary_by_digest"));
            ResultSetMetaData columns = digests.getMetaData();
            int seen = digests.findColumn("last_seen"), count = digests.findColumn("COUNT_STAR");
            same("class", columns.getColumnClassName(seen) + " " + columns.getColumnClassName(count), "java.sql.Timestamp java.math.BigInteger");
            same("scale", columns.getPrecision(seen) + " " + columns.getScale(seen), "26 6");
            same("origin", columns.getCatalogName(count) + "." + columns.getTableName(count),
                "performance_schema.events_statements_summary_by_digest");
            same("nullable", columns.isNullable(count), ResultSetMetaData.columnNoNulls);
            same("counted", digests.getLong("COUNT_STAR") > 0, true);

            // Rows that come by and by, and no more than were asked for.
            try (PreparedStatement many = connection.prepareStatement("SELECT a.NAME FROM setup_instruments a, setup_instruments b")) {
                int all = rows(many.executeQuery(), "NAME").size();
                many.setFetchSize(7);
                same("fetched", rows(many.executeQuery(), "NAME").size(), all);
                many.executeQuery().next();
                many.setMaxRows(3);
                same("at most", rows(many.executeQuery(), "NAME").size(), 3);
            }
        }
    }

    static void parameters(String options) throws SQLException {
        try (Connection connection = control(options)) {
            PreparedStatement all = connection.prepareStatement("SELECT ? = -9223372036854775808, ? = 1.25, ?, ? IS NULL, ? = TRUE, "
                + "TIMESTAMP'2026-11-24 12:30:00.25' = ?, DATE'2026-11-24' = ?, TIME'12:30:00' = ?, ?, ?");
            for (int time = 0; time < 2; time++) {
                all.setLong(1, Long.MIN_VALUE);
                all.setBigDecimal(2, new BigDecimal("1.25"));
                all.setString(3, "größe' \\ \uD83D\uDE00");
                all.setNull(4, Types.VARCHAR);
                all.setBoolean(5, true);
                all.setTimestamp(6, Timestamp.valueOf("2026-11-24 12:30:00.25"));
                all.setDate(7, java.sql.Date.valueOf("2026-11-24"));
                all.setTime(8, Time.valueOf("12:30:00"));
                all.setDate(9, java.sql.Date.valueOf("2026-11-24"));
                all.setCharacterStream(10, new java.io.StringReader("x".repeat(100_000)));
                ResultSet found = first(all);
                for (int column : new int[] {1, 2, 4, 5, 6, 7, 8}) same("parameter " + column, found.getInt(column), 1);
                same("text", found.getString(3), "größe' \\ \uD83D\uDE00");
                same("date", found.getString(9), "2026-11-24");
                same("in pieces", found.getString(10).length(), 100_000);
            }
            PreparedStatement page = connection.prepareStatement("SELECT NAME FROM setup_instruments WHERE NAME LIKE ? ORDER BY NAME LIMIT ? OFFSET ?");
            page.setString(1, "wait/synch/mutex/demo/%");
            page.setInt(2, 1);
            page.setLong(3, 1);
            same("page", rows(page.executeQuery(), "NAME"), List.of(QUEUE));
            for (var wrong : Map.of("SELECT * FROM nothing", "1146 42S02", "SELEC 1", "1064 42000", "SELECT nothing FROM threads", "1054 42S22",
                "DELETE FROM threads", "1142 42000", "UPDATE setup_instruments SET ENABLED = 'MAYBE'", "1265 01000").entrySet()) {
                String[] error = wrong.getValue().split(" ");
                fails(Integer.parseInt(error[0]), error[1], () -> connection.prepareStatement(wrong.getKey()).execute());
            }
        }
    }

    static void changes(String options) throws SQLException {
        String timer = "UPDATE setup_timers SET timer_name = ? WHERE name = 'wait'";
        for (boolean affected : new boolean[] {false, true}) {
            try (Connection connection = control(options + "&useAffectedRows=" + affected)) {
                PreparedStatement update = connection.prepareStatement(timer);
                List<Integer> counts = new ArrayList<>();
                for (String name : List.of("NANOSECOND", "CYCLE", "CYCLE")) {
                    update.setString(1, name);
                    counts.add(update.executeUpdate());
                }
                same("what is the same is found, not changed", counts, List.of(1, 1, affected ? 0 : 1));
            }
        }
        for (String batch : List.of("", "&rewriteBatchedStatements=true", "&allowMultiQueries=true")) {
            try (Connection connection = control(options + batch); Statement statement = connection.createStatement()) {
                PreparedStatement update = connection.prepareStatement("UPDATE setup_instruments SET ENABLED = ? WHERE NAME = ?");
                for (String enabled : List.of("NO", "YES")) {
                    update.setString(1, enabled);
                    update.setString(2, QUEUE);
                    update.addBatch();
                }
                same("batch", Arrays.toString(update.executeBatch()), "[1, 1]");
                same("truncated", statement.executeUpdate("TRUNCATE TABLE events_waits_history_long"), 0);
                PreparedStatement insert = connection.prepareStatement("INSERT INTO setup_actors VALUES (?, ?, '%', 'YES', 'YES')");
                for (String user : List.of("java1", "java2")) {
                    insert.setString(1, "%");
                    insert.setString(2, user);
                    insert.addBatch();
                }
                same("inserted", insert.executeBatch().length, 2);
                same("deleted", statement.executeUpdate("DELETE FROM setup_actors WHERE USER LIKE 'java%'"), 2);
            }
        }
        // A row is changed where it is shown, as in the grids of tools: its key says which one it is.
        try (Connection connection = control(options)) {
            String select = "SELECT NAME, ENABLED FROM setup_consumers WHERE NAME = 'events_stages_history'";
            for (String enabled : List.of("NO", "YES")) {
                ResultSet found = connection.prepareStatement(select, ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE).executeQuery();
                found.next();
                found.updateString("ENABLED", enabled);
                found.updateRow();
                same("edited", first(connection.prepareStatement(select)).getString(2), enabled);
            }
        }
        try (Connection connection = connect("reader", "looks", options)) {
            fails(1142, "42000", () -> connection.prepareStatement(timer.replace("?", "'CYCLE'")).executeUpdate());
        }
    }

    static void procedures(String options) throws SQLException {
        try (Connection connection = control(options)) {
            CallableStatement enable = connection.prepareCall("{CALL sys.ps_setup_enable_instrument(?)}");
            same("parameters", enable.getParameterMetaData().getParameterCount(), 1);
            connection.createStatement().execute("CALL sys.ps_setup_disable_instrument('" + QUEUE + "')");
            // By its name.
            enable.setString("in_pattern", QUEUE);
            same("rows", enable.execute(), true);
            same("summary", rows(enable.getResultSet(), "summary"), List.of("Enabled 1 instrument"));
            same("and nothing else", enable.getMoreResults(), false);
            CallableStatement format = connection.prepareCall("{? = CALL sys.format_time(?)}");
            format.registerOutParameter(1, Types.VARCHAR);
            format.setLong(2, 123_456_789);
            format.execute();
            same("function", format.getString(1), "123.46 us");
            fails(1305, "42000", () -> connection.prepareCall("{CALL sys.nothing(1)}").execute());
        }
    }

    static void sessions() throws SQLException {
        try (Connection connection = control("allowMultiQueries=true"); Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (int level : new int[] {1, 2, 4, 8}) {
                connection.setTransactionIsolation(level);
                same("isolation", connection.getTransactionIsolation(), level);
            }
            statement.execute("BEGIN");
            connection.rollback(connection.setSavepoint("a"));
            connection.commit();
            connection.rollback();
            connection.setAutoCommit(true);
            connection.setReadOnly(true);
            connection.setReadOnly(false);
            connection.setCatalog("sys");
            same("catalog", connection.getCatalog(), "sys");
            fails(1049, "42000", () -> connection.setCatalog("nothing"));
            // Several answers to one command; the driver reads all of them at once.
            same("first", statement.execute("SELECT 1; SET @a = 1; SELECT 2"), true);
            same("second", statement.getMoreResults() || statement.getUpdateCount() != 0, false);
            same("third", statement.getMoreResults(), true);
            same("no more", statement.getMoreResults() || statement.getUpdateCount() != -1, false);
            fails(1049, "42000", () -> statement.execute("SELECT 1; SELECT * FROM nothing.t; SELECT 3"));
            same("goes on", connection.isValid(1), true);
            statement.execute("DROP TABLE IF EXISTS test.nothing");
            SQLWarning warning = statement.getWarnings();
            same("warning", warning.getErrorCode() + " " + warning.getMessage(), "1051 Unknown table 'test.nothing'");
        }
    }

    static void interruptions() throws Exception {
        try (Connection connection = control(""); Statement statement = connection.createStatement()) {
            statement.execute("SET cte_max_recursion_depth = 4294967295");
            statement.setQueryTimeout(1);
            fails(1317, "70100", () -> statement.executeQuery(ENDLESS));
            statement.setQueryTimeout(0);
            Thread canceller = new Thread(() -> {
                try {
                    Thread.sleep(300);
                    statement.cancel();
                } catch (Exception error) {
                    throw new AssertionError(error);
                }
            });
            canceller.start();
            fails(1317, "70100", () -> statement.executeQuery(ENDLESS));
            canceller.join();
            same("goes on", connection.isValid(1), true);
        }
    }

    /** A connection that is killed is replaced. */
    static void pool() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url("useServerPrepStmts=true&cachePrepStmts=true"));
        config.setUsername("controller");
        config.setPassword("changes");
        config.setMaximumPoolSize(3);
        config.setConnectionTimeout(Duration.ofSeconds(5).toMillis());
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        config.setReadOnly(true);
        config.setAutoCommit(false);
        config.setCatalog("sys");
        config.setConnectionInitSql("SET @kept = 1");
        try (HikariDataSource pool = new HikariDataSource(config)) {
            List<Thread> threads = new ArrayList<>();
            List<String> found = java.util.Collections.synchronizedList(new ArrayList<>());
            for (int number = 0; number < 6; number++) {
                Thread thread = new Thread(() -> {
                    for (int time = 0; time < 10; time++) {
                        try (Connection connection = pool.getConnection()) {
                            var row = first(connection.prepareStatement("SELECT DATABASE(), @kept, @@transaction_isolation"));
                            found.add(row.getString(1) + " " + row.getString(2) + " " + row.getString(3));
                            connection.commit();
                        } catch (SQLException error) {
                            found.add(error.toString());
                        }
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) thread.join();
            same("pooled", found, java.util.Collections.nCopies(60, "sys 1 READ-COMMITTED"));
            try (Connection victim = pool.getConnection(); Connection other = pool.getConnection()) {
                long id = first(victim.prepareStatement("SELECT CONNECTION_ID()")).getLong(1);
                other.createStatement().execute("KILL " + id);
                try {
                    // It may see one more statement through.
                    for (int time = 0; time < 20; time++) {
                        victim.createStatement().execute("SELECT 1");
                        Thread.sleep(50);
                    }
                    throw new AssertionError("it is still there");
                } catch (SQLException error) {
                    same(error.toString(), error.getSQLState().startsWith("08"), true);
                }
            }
            try (Connection again = pool.getConnection()) {
                same("again", again.isValid(1), true);
            }
        }
    }
}
