//! What clients, drivers and exporters send before anybody types a statement.

mod common;

use common::{check, run, session};
use perfschema_sql::{Account, Database, Right};

/// None of these may be an error, whatever there is to answer.
#[test]
fn what_is_sent_at_a_connection() {
    let mut session = session();
    for statement in [
        // mysql --safe-updates
        "SET sql_safe_updates=1,sql_select_limit=1000,max_join_size=1000000",
        "SELECT @@version_comment LIMIT 1",
        // Connector/J
        "/* mysql-connector-j-8.0.33 */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS \
         character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, \
         @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS \
         collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, \
         @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS \
         net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, \
         @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout",
        "SET character_set_results = NULL",
        "SELECT @@session.transaction_read_only",
        "SET SESSION TRANSACTION READ ONLY",
        // mysqlsh
        "SELECT @@hostname, @@port, @@datadir, @@server_uuid, @@server_id, @@max_connections, @@sql_log_off, @@gtid_mode, @@offline_mode",
        "SET SESSION sql_log_bin = 0, @@session.time_zone = '+00:00', lc_messages = 'en_US'",
        // mysqldump
        "/*!40100 SET @@SQL_MODE='' */",
        "/*!40103 SET TIME_ZONE='+00:00' */",
        "/*!80000 SET SESSION information_schema_stats_expiry=0 */",
        "SET SESSION NET_READ_TIMEOUT= 86400, SESSION NET_WRITE_TIMEOUT= 86400",
        "FLUSH /*!40101 LOCAL */ TABLES",
        "FLUSH TABLES WITH READ LOCK",
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */",
        "SHOW VARIABLES LIKE 'gtid\\_mode'",
        "SET SQL_QUOTE_SHOW_CREATE=1",
        "SAVEPOINT sp",
        "ROLLBACK TO SAVEPOINT sp",
        "RELEASE SAVEPOINT sp",
        "UNLOCK TABLES",
        // phpMyAdmin's list of databases
        "SELECT *, CAST(BIN_NAME AS CHAR CHARACTER SET utf8) AS SCHEMA_NAME FROM (SELECT BINARY s.SCHEMA_NAME AS BIN_NAME, \
         s.DEFAULT_COLLATION_NAME FROM `information_schema`.SCHEMATA s GROUP BY BINARY s.SCHEMA_NAME, s.DEFAULT_COLLATION_NAME ORDER BY \
         BINARY `SCHEMA_NAME` ASC) a",
        // mysqld_exporter
        "SET SESSION lock_wait_timeout = 2",
        "SHOW GLOBAL VARIABLES",
        "SHOW GLOBAL STATUS",
    ] {
        let found = run(&mut session, statement);
        assert!(!found.starts_with("ERROR"), "{statement}: {found}");
    }
}

#[test]
fn switches_are_numbers_and_words() {
    let mut session = session();
    for (value, number, word) in [("ON", "1", "ON"), ("'off'", "0", "OFF"), ("TRUE", "1", "ON"), ("0", "0", "OFF")] {
        check(&mut session, &format!("SET sql_log_off = {value}"), "0 changed");
        check(&mut session, "SELECT @@sql_log_off", number);
        check(&mut session, "SHOW VARIABLES LIKE 'sql_log_off'", &format!("sql_log_off,{word}"));
    }
    let error = "ERROR 1231 (42000): Variable 'autocommit' can't be set to the value of '7'";
    assert_eq!(run(&mut session, "SET autocommit = 7"), error);
    let error = "ERROR 1238 (HY000): Variable 'max_connections' is a read only variable";
    assert_eq!(run(&mut session, "SET max_connections = 7"), error);
    check(&mut session, "SELECT @@pseudo_thread_id = CONNECTION_ID(), LENGTH(@@server_uuid)", "1,36");
}

#[test]
fn safe_updates() {
    let mut session = session();
    check(&mut session, "SET sql_safe_updates = 1", "0 changed");
    let error = "ERROR 1175 (HY000): You are using safe update mode and you tried to update a table without a WHERE that uses a KEY \
                 column.";
    assert_eq!(run(&mut session, "UPDATE setup_timers SET timer_name = 'TICK'"), error);
    assert_eq!(run(&mut session, "DELETE FROM setup_actors"), error);
    check(&mut session, "UPDATE setup_timers SET timer_name = 'TICK' LIMIT 1", "Rows matched: 1  Changed: 1  Warnings: 0");
    check(&mut session, "DELETE FROM setup_actors WHERE user = 'nobody'", "0 changed");
    check(&mut session, "SET sql_safe_updates = 0", "0 changed");
    check(&mut session, "DELETE FROM setup_actors", "1 changed");
}

/// It ends nothing, and begins nothing.
#[test]
fn what_is_mistyped_about_transactions() {
    let mut session = session();
    check(&mut session, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "0 changed");
    for statement in [
        "BEGIN xyz",
        "START TRANSACTION xyz",
        "START TRANSACTION READ",
        "START TRANSACTION READ ONLY,",
        "START TRANSACTION WITH CONSISTENT READ",
        "COMMIT xyz",
        "COMMIT AND xyz",
        "COMMIT AND CHAIN xyz",
        "ROLLBACK NO",
        "ROLLBACK TOO a",
        "FLUSH STATUS xyz",
    ] {
        let found = run(&mut session, statement);
        assert!(found.starts_with("ERROR 1064 (42000)"), "{statement}: {found}");
        assert!(session.is_in_transaction(), "{statement}");
    }
    check(&mut session, "COMMIT AND NO CHAIN RELEASE", "0 changed");
    for statement in ["BEGIN xyz", "START TRANSACTION xyz"] {
        run(&mut session, statement);
        assert!(!session.is_in_transaction(), "{statement}");
    }
}

/// What clients are told with each answer.
#[test]
fn transactions() {
    let mut session = session();
    let mut after = |statement: &str, expected: (bool, bool)| {
        let found = run(&mut session, statement);
        assert!(!found.starts_with("ERROR"), "{statement}: {found}");
        assert_eq!((session.is_autocommit(), session.is_in_transaction()), expected, "{statement}");
    };
    for (begin, end) in [
        ("BEGIN", "COMMIT"),
        ("START TRANSACTION READ ONLY", "ROLLBACK"),
        ("BEGIN WORK", "COMMIT WORK"),
        ("START TRANSACTION WITH CONSISTENT SNAPSHOT", "COMMIT AND NO CHAIN"),
        ("BEGIN", "TRUNCATE events_waits_history"),
        ("BEGIN", "CREATE TABLE test.t AS SELECT 1"),
        ("BEGIN", "DROP TABLE test.t"),
        ("BEGIN", "FLUSH STATUS"),
        ("BEGIN", "LOCK TABLES setup_actors READ"),
    ] {
        after(begin, (true, true));
        after("SELECT 1", (true, true));
        after("SAVEPOINT a", (true, true));
        after("ROLLBACK TO a", (true, true));
        after("SET autocommit = 1", (true, true));
        after(end, (true, false));
    }
    after("BEGIN", (true, true));
    after("COMMIT WORK AND CHAIN NO RELEASE", (true, true));
    after("ROLLBACK AND CHAIN", (true, true));
    after("SET autocommit = OFF", (false, true));
    after("SET autocommit = 1", (true, false));
    after("SET @@session.autocommit = 0", (false, false));
    // Only a table whose engine has transactions begins one.
    after("SELECT * FROM setup_actors", (false, false));
    after("BEGIN", (false, true));
    after("SET autocommit = DEFAULT", (true, false));
    let isolation = "SELECT @@transaction_isolation, @@tx_isolation, @@transaction_read_only, @@tx_read_only";
    for (statement, expected) in [
        ("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "READ-COMMITTED,READ-COMMITTED,0,0"),
        ("SET LOCAL TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE", "SERIALIZABLE,SERIALIZABLE,1,1"),
        ("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED, READ WRITE", "SERIALIZABLE,SERIALIZABLE,1,1"),
        ("SET @@session.tx_isolation = 'REPEATABLE-READ', tx_read_only = 0", "REPEATABLE-READ,REPEATABLE-READ,0,0"),
    ] {
        check(&mut session, statement, "0 changed");
        check(&mut session, isolation, expected);
    }
    check(&mut session, "BEGIN", "0 changed");
    let refusal = "ERROR 1568 (25001): Transaction characteristics can't be changed while a transaction is in progress";
    assert_eq!(run(&mut session, "SET TRANSACTION READ ONLY"), refusal);
    for statement in ["SET TRANSACTION", "SET SESSION TRANSACTION ISOLATION LEVEL READ", "SET TRANSACTION READ ONLY x"] {
        assert!(run(&mut session, statement).starts_with("ERROR 1064 "), "{statement}");
    }
    // As drivers do that prepare everything.
    for statement in ["COMMIT AND CHAIN", "ROLLBACK WORK", "DO ? + 1", "FLUSH /*!40101 LOCAL */ TABLES"] {
        let found = session.describe(statement).map(|found| (found.parameters, found.columns.len()));
        assert_eq!(found, Ok((usize::from(statement.contains('?')), 0)), "{statement}");
    }
}

/// As Rails and others set everything at once.
#[test]
fn character_sets_among_assignments() {
    let mut session = session();
    let found = "SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection, @a";
    for (statement, expected) in [
        (
            "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci,  @@SESSION.sql_mode = CONCAT(CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), \
             ',NO_AUTO_VALUE_ON_ZERO'),  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483",
            "utf8mb4,utf8mb4,utf8mb4,utf8mb4_unicode_ci,",
        ),
        ("SET @a = 1, NAMES 'latin1'", "latin1,latin1,latin1,utf8mb4_0900_ai_ci,1"),
        ("SET CHARACTER SET utf8, @a := 2", "utf8,utf8mb4,utf8,utf8mb4_0900_ai_ci,2"),
        ("SET NAMES utf8 COLLATE 'utf8_general_ci'", "utf8,utf8,utf8,utf8_general_ci,2"),
        ("SET NAMES DEFAULT", "utf8mb4,utf8mb4,utf8mb4,utf8mb4_0900_ai_ci,2"),
        ("SET CHARSET binary", "binary,utf8mb4,binary,utf8mb4_0900_ai_ci,2"),
        ("SET NAMES binary COLLATE binary", "binary,binary,binary,binary,2"),
    ] {
        // Connector/J and others prepare what they send.
        let described = session.describe(statement).map(|description| (description.parameters, description.columns.len()));
        assert_eq!(described, Ok((0, 0)), "{statement}");
        check(&mut session, statement, "0 changed");
        check(&mut session, found, expected);
    }
    check(&mut session, "SET collation_connection = 45", "0 changed");
    let values = |statement: &str| session.describe(statement).map(|description| description.parameters);
    assert_eq!(["SET @a = ?, NAMES utf8mb4", "SET sql_mode='', NAMES utf8mb4"].map(values), [Ok(1), Ok(0)]);
    check(
        &mut session,
        "SELECT @@wait_timeout, @@sql_mode",
        "2147483,\"NO_AUTO_VALUE_ON_ZERO,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION\"",
    );
    for name in ["latin1", "utf8mb3"] {
        let error = format!("ERROR 1253 (42000): COLLATION 'utf8mb4_bin' is not valid for CHARACTER SET '{name}'");
        assert_eq!(run(&mut session, &format!("SET NAMES {name} COLLATE utf8mb4_bin")), error);
    }
    for statement in
        ["SET NAMES", "SET NAMES utf8mb4 COLLATE", "SET @a = 3, CHARACTER utf8", "SET NAMES utf8mb4,", "SET NAMES utf8 x"]
    {
        assert!(run(&mut session, statement).starts_with("ERROR 1064 "), "{statement}");
        assert_eq!(session.describe(statement).map_err(|error| error.errno), Err(1064), "{statement}");
    }
    check(&mut session, "SELECT @a", "2");
}

#[test]
fn quoted_user_variables() {
    let mut session = session();
    check(&mut session, "SET @`a b` = 1, @'c' = 'x', @\"D\" := 3", "0 changed");
    check(&mut session, "SELECT @`a b`, @c, @`C`, @'d' + 1, @`d`AS e", "1,x,x,4,3");
    check(&mut session, "SELECT _utf8mb4'a' 'b', _utf8mb4'a' 'b' 'c' = 'abc', 'a' 'b'", "ab,1,ab");
    check(&mut session, "SELECT b'1000001', B'01000010', b''", "A,B,\"\"");
    assert!(run(&mut session, "SELECT b'2'").starts_with("ERROR 1064 "));
}

#[test]
fn listing_warnings_warns_of_nothing() {
    let mut session = session();
    check(&mut session, "DROP TABLE IF EXISTS test.nothing", "0 changed");
    assert_eq!(session.warning_count(), 1);
    for statement in ["SHOW WARNINGS", "SHOW COUNT(*) WARNINGS", "SHOW ERRORS"] {
        assert!(!run(&mut session, statement).starts_with("ERROR"));
        assert_eq!((session.warnings().len(), session.warning_count()), (1, 0), "{statement}");
    }
    check(&mut session, "SELECT 1", "1");
    assert_eq!(session.warning_count(), 0);
}

#[test]
fn warnings_are_counted() {
    let mut session = session();
    let counts = "SELECT @@warning_count, @@session.error_count";
    for (statement, expected) in [
        ("SELECT 1", "0,0"),
        ("DROP TABLE IF EXISTS test.nothing, test.nowhere", "2,0"),
        ("SELECT nothing", "1,1"),
        ("SET @a = 1", "0,0"),
    ] {
        let _ = run(&mut session, statement);
        check(&mut session, counts, expected);
        // Who asks changes nothing.
        check(&mut session, counts, expected);
        assert_eq!(session.warning_count(), 0, "{statement}");
    }
    check(&mut session, "SHOW VARIABLES LIKE 'error\\_count'", "error_count,0");
    let error = "ERROR 1238 (HY000): Variable 'error_count' is a read only variable";
    assert_eq!(run(&mut session, "SET error_count = 0"), error);
}

#[test]
fn savepoints() {
    let mut session = session();
    let gone = |name: &str| format!("ERROR 1305 (42000): SAVEPOINT {name} does not exist");
    // Each statement is a transaction of its own.
    check(&mut session, "SAVEPOINT a", "0 changed");
    assert_eq!(run(&mut session, "ROLLBACK TO a"), gone("a"));
    for statement in
        ["START TRANSACTION", "SAVEPOINT a", "SAVEPOINT b", "ROLLBACK WORK TO SAVEPOINT A", "SAVEPOINT c", "RELEASE SAVEPOINT a"]
    {
        check(&mut session, statement, "0 changed");
    }
    for name in ["a", "b", "c"] {
        assert_eq!(run(&mut session, &format!("ROLLBACK TO {name}")), gone(name));
    }
    for statement in ["SET autocommit = 0", "SAVEPOINT a", "RELEASE SAVEPOINT a", "SAVEPOINT a", "COMMIT AND CHAIN"] {
        check(&mut session, statement, "0 changed");
    }
    assert_eq!(run(&mut session, "RELEASE SAVEPOINT a"), gone("a"));
    assert!(run(&mut session, "RELEASE a").starts_with("ERROR 1064 "));
    assert!(run(&mut session, "SAVEPOINT").starts_with("ERROR 1064 "));
    for number in 0..1000 {
        check(&mut session, &format!("SAVEPOINT s{number}"), "0 changed");
    }
    assert!(run(&mut session, "SAVEPOINT s1000").starts_with("ERROR 1041 "));
}

#[test]
fn locks() {
    let mut session = session();
    check(&mut session, "CREATE TABLE test.t AS SELECT 1", "Records: 1  Duplicates: 0  Warnings: 0");
    for statement in [
        "LOCK TABLES setup_consumers READ, sys.lock_waits AS l READ LOCAL, test.t x WRITE",
        "LOCK TABLE `performance_schema`.`setup_instruments` READ /*!32311 LOCAL */, setup_actors WRITE",
        "UNLOCK TABLES",
    ] {
        check(&mut session, statement, "0 changed");
    }
    // As in MySQL: what nobody can change nobody locks.
    let denied =
        "ERROR 1142 (42000): SELECT, LOCK TABLES command denied to user 'root'@'localhost' for table 'events_waits_current'";
    for how in ["WRITE", "READ", "AS e READ LOCAL"] {
        assert_eq!(run(&mut session, &format!("LOCK TABLES events_waits_current {how}")), denied, "{how}");
    }
    let denied = "ERROR 1044 (42000): Access denied for user 'root'@'localhost' to database 'information_schema'";
    assert_eq!(run(&mut session, "LOCK TABLES information_schema.tables READ"), denied);
    assert!(run(&mut session, "LOCK TABLES nothing READ").starts_with("ERROR 1146 "));
    assert!(run(&mut session, "LOCK TABLES threads").starts_with("ERROR 1064 "));
}

#[test]
fn statements_without_rows() {
    let mut session = session();
    check(&mut session, "DO 1, (SELECT COUNT(*) FROM threads)", "0 changed");
    assert!(run(&mut session, "DO nothing").starts_with("ERROR 1054 "));
    assert_eq!(run(&mut session, "CALL sys.nothing(1)"), "ERROR 1305 (42000): PROCEDURE sys.nothing does not exist");
    check(&mut session, "INSERT IGNORE INTO setup_actors VALUES ('%', '%', '%'), ('x', 'y', '%')", "1 changed");
    check(&mut session, "SHOW WARNINGS", "Warning,1022,Can't write; duplicate key in table 'setup_actors'");
    check(&mut session, "INSERT INTO setup_actors SET history = 'NO', user = 'u', host = 'h'", "1 changed");
    check(&mut session, "SELECT * FROM setup_actors WHERE user = 'u'", "h,u,%,YES,NO");
    check(&mut session, "INSERT INTO setup_actors SET user = 'v'", "1 changed");
    // What there is no room for is no duplicate.
    check(&mut session, "INSERT IGNORE INTO setup_actors SET user = 'w'", "ERROR 1114 (HY000): The table 'setup_actors' is full");
    check(&mut session, "DROP TABLE IF EXISTS test.nothing", "0 changed");
    check(&mut session, "SHOW WARNINGS", "Note,1051,Unknown table 'test.nothing'");
    let account = Account { right: Right::Read, ..Account::default() };
    let mut reader = Database::new(common::World::new().region).session(account).expect("there is memory");
    for statement in ["FLUSH TABLES", "SET GLOBAL version = 'x'", "SET GLOBAL timestamp = 1"] {
        assert!(run(&mut reader, statement).starts_with("ERROR 1227 "), "{statement}");
    }
}

/// MySQL's headings, and rows where there is something of the kind.
#[test]
fn shows() {
    let mut session = session();
    for (statement, heads, rows) in [
        ("SHOW PLUGINS", "Name,Status,Type,Library,License", 3),
        ("SHOW STORAGE ENGINES", "Engine,Support,Comment,Transactions,XA,Savepoints", 3),
        ("SHOW CHARSET LIKE 'utf8%'", "Charset,Description,Default collation,Maxlen", 1),
        ("SHOW COLLATION WHERE `Default` = 'Yes'", "Collation,Charset,Id,Default,Compiled,Sortlen,Pad_attribute", 1),
        (
            "SHOW TRIGGERS FROM sys LIKE 'x'",
            "Trigger,Event,Table,Statement,Timing,Created,sql_mode,Definer,character_set_client,collation_connection,Database Collation",
            0,
        ),
        (
            "SHOW EVENTS",
            "Db,Name,Definer,Time zone,Type,Execute at,Interval value,Interval field,Starts,Ends,Status,Originator,character_set_client,\
             collation_connection,Database Collation",
            0,
        ),
        (
            "SHOW PROCEDURE STATUS WHERE Db = 'sys'",
            "Db,Name,Type,Definer,Modified,Created,Security_type,Comment,character_set_client,collation_connection,Database Collation",
            5,
        ),
        (
            "SHOW KEYS FROM `threads` FROM `performance_schema` WHERE Key_name = 'PRIMARY'",
            "Table,Non_unique,Key_name,Seq_in_index,Column_name,Collation,Cardinality,Sub_part,Packed,Null,Index_type,Comment,Index_comment,\
             Visible,Expression",
            1,
        ),
        (
            "SHOW TABLE STATUS LIKE 'threads'",
            "Name,Engine,Version,Row_format,Rows,Avg_row_length,Data_length,Max_data_length,Index_length,Data_free,Auto_increment,\
             Create_time,Update_time,Check_time,Collation,Checksum,Create_options,Comment",
            1,
        ),
        ("SHOW OPEN TABLES FROM performance_schema", "Database,Table,In_use,Name_locked", 0),
        ("SHOW PROFILES", "Query_ID,Duration,Query", 0),
        ("SHOW EXTENDED FULL TABLES LIKE 'threads'", "Tables_in_performance_schema,Table_type", 1),
    ] {
        let found = run(&mut session, statement);
        assert_eq!(found.lines().next(), Some(heads), "{statement}: {found}");
        assert_eq!(found.lines().count() - 1, rows, "{statement}: {found}");
    }
    // By what rows are told apart, as MySQL 8 has it.
    let key = "WHERE TABLE_NAME = 'setup_actors' ORDER BY ORDINAL_POSITION";
    for (statement, expected) in [
        ("SHOW INDEX FROM setup_consumers", "setup_consumers,0,PRIMARY,1,NAME,,,,,\"\",HASH,\"\",\"\",YES,"),
        (
            &format!("SELECT CONSTRAINT_NAME, COLUMN_NAME, ORDINAL_POSITION FROM information_schema.KEY_COLUMN_USAGE {key}"),
            "PRIMARY,HOST,1\nPRIMARY,USER,2\nPRIMARY,ROLE,3",
        ),
        (&format!("SELECT COLUMN_KEY FROM information_schema.COLUMNS {key}"), "PRI\nPRI\nPRI\n\"\"\n\"\""),
        (
            "SELECT * FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_NAME LIKE 'events\\_waits\\_hist%'",
            "def,performance_schema,PRIMARY,performance_schema,events_waits_histogram_by_event_name,PRIMARY KEY,YES\n\
             def,performance_schema,PRIMARY,performance_schema,events_waits_history,PRIMARY KEY,YES",
        ),
        ("SHOW KEYS FROM events_waits_history_long", ""),
        ("SHOW KEYS FROM sys.processlist", ""),
    ] {
        let found = run(&mut session, statement);
        assert_eq!(found.split_once('\n').map(|(_, rows)| rows.trim_end()), Some(expected), "{statement}: {found}");
    }
    // What a program has none of.
    for (statement, count, heads) in [
        ("SHOW REPLICA STATUS", 60, "Replica_IO_State,Source_Host,"),
        ("SHOW SLAVE STATUS FOR CHANNEL 'x'", 60, "Slave_IO_State,Master_Host,"),
        ("SHOW MASTER STATUS", 5, "File,Position,"),
        ("SHOW REPLICAS", 5, "Server_Id,"),
        ("SHOW SLAVE HOSTS", 5, "Server_id,"),
        ("SHOW BINLOG EVENTS", 6, "Log_name,"),
        ("SHOW BINLOG EVENTS IN 'x' FROM 4 LIMIT 0, 25", 6, "Log_name,"),
        ("SHOW RELAYLOG EVENTS LIMIT 3", 6, "Log_name,"),
    ] {
        let found = run(&mut session, statement);
        assert!(found.starts_with(heads), "{statement}: {found}");
        assert_eq!((found.lines().count(), found.split(',').count()), (1, count), "{statement}: {found}");
    }
    for wrong in ["SHOW SLAVE STATUS FOR x", "SHOW BINLOG EVENTS IN x", "SHOW BINLOG EVENTS LIMIT x", "SHOW BINLOG"] {
        assert!(run(&mut session, wrong).starts_with("ERROR 1064 "), "{wrong}");
    }
    let create = "CREATE DATABASE `sys` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT \
                  ENCRYPTION='N' */";
    check(&mut session, "SHOW CREATE DATABASE IF NOT EXISTS `sys`", &format!("sys,{create}"));
    for (statement, error) in [
        ("SHOW CREATE SCHEMA nothing", "1049 (42000): Unknown database 'nothing'"),
        ("SHOW TRIGGERS FROM nothing", "1049 (42000): Unknown database 'nothing'"),
        ("SHOW INDEX FROM nothing", "1146 (42S02): Table 'performance_schema.nothing' doesn't exist"),
        ("SHOW ENGINE MyISAM STATUS", "1286 (42000): Unknown storage engine 'MyISAM'"),
        ("SHOW BINARY LOGS", "1381 (HY000): You are not using binary logging"),
        ("SHOW CREATE PROCEDURE x", "1305 (42000): PROCEDURE x does not exist"),
    ] {
        assert_eq!(run(&mut session, statement), format!("ERROR {error}"), "{statement}");
    }
    check(&mut session, "SHOW COUNT(*) WARNINGS", "1");
    check(&mut session, "SHOW COUNT(*) ERRORS", "1");
    check(&mut session, "SHOW ERRORS LIMIT 1", "Error,1305,PROCEDURE x does not exist");
    assert_eq!(run(&mut session, "SHOW WARNINGS LIMIT 1, 5"), "Level,Code,Message\n");
    assert_eq!(session.describe("SHOW WARNINGS").map(|found| found.columns.len()), Ok(3));
    assert!(run(&mut session, "SHOW WARNINGS LIMIT x").starts_with("ERROR 1064 "));
}

/// What MySQL 8 has there of sessions, as SHOW has it.
#[test]
fn performance_schema_of_sessions() {
    let mut session = session();
    check(&mut session, "SET sql_log_off = 1", "0 changed");
    for (table, show) in [
        ("session_variables", "SHOW VARIABLES"),
        ("session_status", "SHOW STATUS WHERE Variable_name NOT RLIKE '^(Com_.*|Queries|Questions|Uptime)$'"),
    ] {
        let select = format!("SELECT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Value FROM performance_schema.{table}");
        let select = format!("{select} WHERE VARIABLE_NAME NOT RLIKE '^(Com_.*|Queries|Questions|Uptime)$'");
        assert_eq!(run(&mut session, &select), run(&mut session, show), "{table}");
    }
    check(
        &mut session,
        "SELECT @@sql_log_off, VARIABLE_VALUE FROM session_variables WHERE VARIABLE_NAME = 'SQL_LOG_OFF'",
        "1,ON",
    );
    let of_four = "TABLE_SCHEMA = 'performance_schema' AND TABLE_NAME RLIKE '^(global|session)_(variables|status)$'";
    check(
        &mut session,
        &format!("SELECT TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES WHERE {of_four}"),
        "global_status,BASE TABLE,PERFORMANCE_SCHEMA\nglobal_variables,BASE TABLE,PERFORMANCE_SCHEMA\n\
         session_status,BASE TABLE,PERFORMANCE_SCHEMA\nsession_variables,BASE TABLE,PERFORMANCE_SCHEMA",
    );
    check(
        &mut session,
        &format!(
            "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE {of_four} AND TABLE_NAME LIKE 's%'"
        ),
        "session_status,VARIABLE_NAME,varchar(64)\nsession_status,VARIABLE_VALUE,varchar(1024)\n\
         session_variables,VARIABLE_NAME,varchar(64)\nsession_variables,VARIABLE_VALUE,varchar(1024)",
    );
    // MySQL Workbench's list of connections.
    let threads = "SELECT t.THREAD_ID, a.ATTR_VALUE FROM performance_schema.threads t";
    for table in ["session_connect_attrs", "session_account_connect_attrs"] {
        let attributes = format!("performance_schema.{table} a ON t.PROCESSLIST_ID = a.PROCESSLIST_ID");
        let named = "(a.attr_name IS NULL OR a.attr_name = 'program_name')";
        let all = run(&mut session, "SELECT THREAD_ID, NULL AS ATTR_VALUE FROM performance_schema.threads");
        assert_eq!(run(&mut session, &format!("{threads} LEFT OUTER JOIN {attributes} AND {named} WHERE 1 = 1")), all, "{table}");
        check(
            &mut session,
            &format!("SELECT GROUP_CONCAT(COLUMN_NAME) FROM information_schema.COLUMNS WHERE TABLE_NAME = '{table}'"),
            "\"PROCESSLIST_ID,ATTR_NAME,ATTR_VALUE,ORDINAL_POSITION\"",
        );
    }
    // As tables that nobody changes are refused there.
    for (statement, command) in [
        ("UPDATE session_variables SET VARIABLE_VALUE = 1", "UPDATE"),
        ("DELETE FROM session_status", "DELETE"),
        ("LOCK TABLES session_variables READ", "SELECT, LOCK TABLES"),
    ] {
        let table = if statement.contains("status") { "session_status" } else { "session_variables" };
        let denied = format!("ERROR 1142 (42000): {command} command denied to user 'root'@'localhost' for table '{table}'");
        assert_eq!(run(&mut session, statement), denied, "{statement}");
    }
}

/// Every table has as many columns as its rows have values; and those that tools ask for are there.
#[test]
fn information_schema() {
    let mut session = session();
    let names = run(&mut session, "SHOW TABLES FROM information_schema");
    let names: Vec<&str> = names.lines().skip(1).collect();
    for name in &names {
        let found = run(&mut session, &format!("SELECT * FROM information_schema.`{name}`"));
        assert!(!found.starts_with("ERROR"), "{name}: {found}");
        let columns = run(
            &mut session,
            &format!(
                "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = '{name}'"
            ),
        );
        assert_eq!(
            columns.lines().last(),
            Some(found.lines().next().map_or(0, |heads| heads.split(',').count()).to_string().as_str())
        );
    }
    for name in [
        "CHARACTER_SETS",
        "CHECK_CONSTRAINTS",
        "COLLATIONS",
        "COLUMN_STATISTICS",
        "ENGINES",
        "EVENTS",
        "FILES",
        "KEYWORDS",
        "KEY_COLUMN_USAGE",
        "PARAMETERS",
        "PARTITIONS",
        "PLUGINS",
        "REFERENTIAL_CONSTRAINTS",
        "ROUTINES",
        "SCHEMA_PRIVILEGES",
        "STATISTICS",
        "TABLE_CONSTRAINTS",
        "TRIGGERS",
        "USER_PRIVILEGES",
        "VIEWS",
    ] {
        assert!(names.contains(&name), "{name} is not there");
    }
    for (statement, expected) in [
        // mysqldump
        (
            "SELECT LOGFILE_GROUP_NAME, FILE_NAME, TOTAL_EXTENTS, INITIAL_SIZE, ENGINE, EXTRA FROM INFORMATION_SCHEMA.FILES WHERE ENGINE = \
             'ndbcluster' AND FILE_TYPE = 'UNDO LOG' GROUP BY LOGFILE_GROUP_NAME, FILE_NAME, ENGINE, TOTAL_EXTENTS, INITIAL_SIZE ORDER BY \
             LOGFILE_GROUP_NAME",
            "",
        ),
        (
            "SELECT TABLE_NAME FROM information_schema.views WHERE table_schema = 'sys' AND table_name LIKE 'lock\\_w%'",
            "lock_waits",
        ),
        ("SELECT COUNT(*) > 0 FROM information_schema.views WHERE view_definition LIKE 'SELECT%'", "1"),
        ("SELECT reserved FROM information_schema.keywords WHERE word IN ('SELECT', 'ACTION') ORDER BY word", "0\n1"),
        ("SELECT COUNT(*), COUNT(DISTINCT word) FROM information_schema.keywords WHERE reserved", "262,262"),
        (
            "SELECT GROUP_CONCAT(word ORDER BY word) FROM information_schema.keywords \
             WHERE reserved AND word IN ('KEY', 'RANK', 'INTERVAL', 'LEAD', 'SSL', 'TOP', 'END', 'OFFSET', 'MASTER_BIND')",
            "\"INTERVAL,KEY,LEAD,MASTER_BIND,RANK,SSL\"",
        ),
        (
            "SELECT grantee, privilege_type FROM information_schema.user_privileges",
            "'root'@'localhost',RELOAD\n'root'@'localhost',PROCESS\n'root'@'localhost',CONNECTION_ADMIN",
        ),
        ("SELECT partition_name IS NULL FROM information_schema.partitions WHERE table_name = 'threads'", "1"),
    ] {
        if expected.is_empty() {
            assert_eq!(run(&mut session, statement).lines().count(), 1, "{statement}");
        } else {
            check(&mut session, statement, expected);
        }
    }
}

#[test]
fn what_is_flushed_and_what_is_no_statement() {
    let mut session = session();
    for what in ["TABLES", "TABLE", "PRIVILEGES", "HOSTS", "LOGS", "STATUS", "LOCAL LOGS", "NO_WRITE_TO_BINLOG STATUS"] {
        check(&mut session, &format!("FLUSH {what}"), "0 changed");
    }
    for other in [
        "FLUSH",
        "FLUSH nothing",
        "START SLAVE",
        "RELEASE a",
        "RELEASE SAVEPOINT a b",
        "SAVEPOINT a b",
        "ROLLBACK TO a b",
        "LOCK a",
        "UNLOCK a",
    ] {
        let found = run(&mut session, other);
        assert!(found.starts_with("ERROR 1064 ") || found.starts_with("ERROR 1235 "), "{other}: {found}");
    }
    check(&mut session, "SET LOCAL TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "0 changed");
    check(&mut session, "SELECT @@transaction_isolation, @@tx_isolation", "READ-UNCOMMITTED,READ-UNCOMMITTED");
    // Commas within parentheses are none between assignments, and behind them they are again.
    check(&mut session, "SET @a = GREATEST(1, (2), 3), NAMES latin1, @@sort_buffer_size = 100000", "0 changed");
    check(&mut session, "SELECT @a, @@character_set_client, @@sort_buffer_size", "3,latin1,100000");
}
