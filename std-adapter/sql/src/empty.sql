-- Tables that MySQL has, and of which a program has nothing: it keeps no tables, replicates nothing, has no InnoDB, and nobody logs in to it.
-- Agents ask for them all the same, and take an error for an outage. Names, columns and order are MySQL's.

CREATE TABLE information_schema.CHECK_CONSTRAINTS (
    CONSTRAINT_CATALOG varchar(64) NOT NULL, CONSTRAINT_SCHEMA varchar(64) NOT NULL, CONSTRAINT_NAME varchar(64) NOT NULL,
    CHECK_CLAUSE longtext NOT NULL
);

CREATE TABLE information_schema.COLUMN_PRIVILEGES (
    GRANTEE varchar(80) NOT NULL, TABLE_CATALOG varchar(64) NOT NULL, TABLE_SCHEMA varchar(64) NOT NULL,
    TABLE_NAME varchar(64) NOT NULL, COLUMN_NAME varchar(64) NOT NULL, PRIVILEGE_TYPE varchar(64) NOT NULL,
    IS_GRANTABLE varchar(3) NOT NULL
);

CREATE TABLE information_schema.COLUMN_STATISTICS (
    SCHEMA_NAME varchar(64) NOT NULL, TABLE_NAME varchar(64) NOT NULL, COLUMN_NAME varchar(64) NOT NULL, HISTOGRAM longtext NOT NULL
);

CREATE TABLE information_schema.EVENTS (
    EVENT_CATALOG varchar(64) NOT NULL, EVENT_SCHEMA varchar(64) NOT NULL, EVENT_NAME varchar(64) NOT NULL,
    DEFINER varchar(80) NOT NULL, TIME_ZONE varchar(64) NOT NULL, EVENT_BODY varchar(64) NOT NULL,
    EVENT_DEFINITION longtext NOT NULL, EVENT_TYPE varchar(64) NOT NULL, EXECUTE_AT datetime, INTERVAL_VALUE varchar(64),
    INTERVAL_FIELD varchar(64), SQL_MODE longtext NOT NULL, STARTS datetime, ENDS datetime, STATUS varchar(64) NOT NULL,
    ON_COMPLETION varchar(64) NOT NULL, CREATED timestamp NOT NULL, LAST_ALTERED timestamp NOT NULL, LAST_EXECUTED datetime,
    EVENT_COMMENT longtext NOT NULL, ORIGINATOR int unsigned NOT NULL, CHARACTER_SET_CLIENT varchar(64) NOT NULL,
    COLLATION_CONNECTION varchar(64) NOT NULL, DATABASE_COLLATION varchar(64) NOT NULL
);

CREATE TABLE information_schema.FILES (
    FILE_ID bigint unsigned, FILE_NAME longtext, FILE_TYPE varchar(64), TABLESPACE_NAME varchar(64) NOT NULL,
    TABLE_CATALOG varchar(64) NOT NULL, TABLE_SCHEMA varchar(64), TABLE_NAME varchar(64), LOGFILE_GROUP_NAME varchar(64),
    LOGFILE_GROUP_NUMBER bigint unsigned, ENGINE varchar(64) NOT NULL, FULLTEXT_KEYS varchar(64), DELETED_ROWS bigint unsigned,
    UPDATE_COUNT bigint unsigned, FREE_EXTENTS bigint unsigned, TOTAL_EXTENTS bigint unsigned, EXTENT_SIZE bigint unsigned,
    INITIAL_SIZE bigint unsigned, MAXIMUM_SIZE bigint unsigned, AUTOEXTEND_SIZE bigint unsigned, CREATION_TIME varchar(19),
    LAST_UPDATE_TIME varchar(19), LAST_ACCESS_TIME varchar(19), RECOVER_TIME varchar(19), TRANSACTION_COUNTER bigint unsigned,
    VERSION bigint unsigned, ROW_FORMAT varchar(64), TABLE_ROWS bigint unsigned, AVG_ROW_LENGTH bigint unsigned,
    DATA_LENGTH bigint unsigned, MAX_DATA_LENGTH bigint unsigned, INDEX_LENGTH bigint unsigned, DATA_FREE bigint unsigned,
    CREATE_TIME timestamp, UPDATE_TIME datetime, CHECK_TIME datetime, CHECKSUM bigint unsigned, STATUS varchar(64),
    EXTRA varchar(80)
);

CREATE TABLE information_schema.INNODB_CMP (
    page_size int NOT NULL, compress_ops int NOT NULL, compress_ops_ok int NOT NULL, compress_time int NOT NULL,
    uncompress_ops int NOT NULL, uncompress_time int NOT NULL
);

CREATE TABLE information_schema.INNODB_CMPMEM (
    page_size int NOT NULL, buffer_pool_instance int NOT NULL, pages_used int NOT NULL, pages_free int NOT NULL,
    relocation_ops bigint NOT NULL, relocation_time int NOT NULL
);

CREATE TABLE information_schema.INNODB_CMPMEM_RESET (
    page_size int NOT NULL, buffer_pool_instance int NOT NULL, pages_used int NOT NULL, pages_free int NOT NULL,
    relocation_ops bigint NOT NULL, relocation_time int NOT NULL
);

CREATE TABLE information_schema.INNODB_CMP_PER_INDEX (
    database_name varchar(192) NOT NULL, table_name varchar(192) NOT NULL, index_name varchar(192) NOT NULL,
    compress_ops int NOT NULL, compress_ops_ok int NOT NULL, compress_time int NOT NULL, uncompress_ops int NOT NULL,
    uncompress_time int NOT NULL
);

CREATE TABLE information_schema.INNODB_CMP_PER_INDEX_RESET (
    database_name varchar(192) NOT NULL, table_name varchar(192) NOT NULL, index_name varchar(192) NOT NULL,
    compress_ops int NOT NULL, compress_ops_ok int NOT NULL, compress_time int NOT NULL, uncompress_ops int NOT NULL,
    uncompress_time int NOT NULL
);

CREATE TABLE information_schema.INNODB_CMP_RESET (
    page_size int NOT NULL, compress_ops int NOT NULL, compress_ops_ok int NOT NULL, compress_time int NOT NULL,
    uncompress_ops int NOT NULL, uncompress_time int NOT NULL
);

CREATE TABLE information_schema.INNODB_TRX (
    trx_id bigint unsigned NOT NULL, trx_state varchar(13) NOT NULL, trx_started datetime NOT NULL,
    trx_requested_lock_id varchar(126), trx_wait_started datetime, trx_weight bigint unsigned NOT NULL,
    trx_mysql_thread_id bigint unsigned NOT NULL, trx_query varchar(1024), trx_operation_state varchar(64),
    trx_tables_in_use bigint unsigned NOT NULL, trx_tables_locked bigint unsigned NOT NULL,
    trx_lock_structs bigint unsigned NOT NULL, trx_lock_memory_bytes bigint unsigned NOT NULL,
    trx_rows_locked bigint unsigned NOT NULL, trx_rows_modified bigint unsigned NOT NULL,
    trx_concurrency_tickets bigint unsigned NOT NULL, trx_isolation_level varchar(16) NOT NULL, trx_unique_checks int NOT NULL,
    trx_foreign_key_checks int NOT NULL, trx_last_foreign_key_error varchar(256), trx_adaptive_hash_latched int NOT NULL,
    trx_adaptive_hash_timeout bigint unsigned NOT NULL, trx_is_read_only int NOT NULL, trx_autocommit_non_locking int NOT NULL,
    trx_schedule_weight bigint unsigned
);

CREATE TABLE information_schema.PROFILING (
    QUERY_ID int NOT NULL, SEQ int NOT NULL, STATE varchar(30) NOT NULL, DURATION decimal(9,6) NOT NULL, CPU_USER decimal(9,6),
    CPU_SYSTEM decimal(9,6), CONTEXT_VOLUNTARY int, CONTEXT_INVOLUNTARY int, BLOCK_OPS_IN int, BLOCK_OPS_OUT int, MESSAGES_SENT int,
    MESSAGES_RECEIVED int, PAGE_FAULTS_MAJOR int, PAGE_FAULTS_MINOR int, SWAPS int, SOURCE_FUNCTION varchar(30),
    SOURCE_FILE varchar(20), SOURCE_LINE int
);

CREATE TABLE information_schema.REFERENTIAL_CONSTRAINTS (
    CONSTRAINT_CATALOG varchar(64) NOT NULL, CONSTRAINT_SCHEMA varchar(64) NOT NULL, CONSTRAINT_NAME varchar(64),
    UNIQUE_CONSTRAINT_CATALOG varchar(64) NOT NULL, UNIQUE_CONSTRAINT_SCHEMA varchar(64) NOT NULL,
    UNIQUE_CONSTRAINT_NAME varchar(64), MATCH_OPTION varchar(64) NOT NULL, UPDATE_RULE varchar(64) NOT NULL,
    DELETE_RULE varchar(64) NOT NULL, TABLE_NAME varchar(64) NOT NULL, REFERENCED_TABLE_NAME varchar(64) NOT NULL
);

CREATE TABLE information_schema.TABLE_PRIVILEGES (
    GRANTEE varchar(80) NOT NULL, TABLE_CATALOG varchar(64) NOT NULL, TABLE_SCHEMA varchar(64) NOT NULL,
    TABLE_NAME varchar(64) NOT NULL, PRIVILEGE_TYPE varchar(64) NOT NULL, IS_GRANTABLE varchar(3) NOT NULL
);

CREATE TABLE information_schema.TRIGGERS (
    TRIGGER_CATALOG varchar(64) NOT NULL, TRIGGER_SCHEMA varchar(64) NOT NULL, TRIGGER_NAME varchar(64) NOT NULL,
    EVENT_MANIPULATION varchar(64) NOT NULL, EVENT_OBJECT_CATALOG varchar(64) NOT NULL, EVENT_OBJECT_SCHEMA varchar(64) NOT NULL,
    EVENT_OBJECT_TABLE varchar(64) NOT NULL, ACTION_ORDER int unsigned NOT NULL, ACTION_CONDITION varchar(64),
    ACTION_STATEMENT longtext NOT NULL, ACTION_ORIENTATION varchar(64) NOT NULL, ACTION_TIMING varchar(64) NOT NULL,
    ACTION_REFERENCE_OLD_TABLE varchar(64), ACTION_REFERENCE_NEW_TABLE varchar(64), ACTION_REFERENCE_OLD_ROW varchar(64) NOT NULL,
    ACTION_REFERENCE_NEW_ROW varchar(64) NOT NULL, CREATED timestamp(2) NOT NULL, SQL_MODE longtext NOT NULL,
    DEFINER varchar(80) NOT NULL, CHARACTER_SET_CLIENT varchar(64) NOT NULL, COLLATION_CONNECTION varchar(64) NOT NULL,
    DATABASE_COLLATION varchar(64) NOT NULL
);

CREATE TABLE performance_schema.data_lock_waits (
    ENGINE varchar(32) NOT NULL, REQUESTING_ENGINE_LOCK_ID varchar(128) NOT NULL, REQUESTING_ENGINE_TRANSACTION_ID bigint unsigned,
    REQUESTING_THREAD_ID bigint unsigned, REQUESTING_EVENT_ID bigint unsigned,
    REQUESTING_OBJECT_INSTANCE_BEGIN bigint unsigned NOT NULL, BLOCKING_ENGINE_LOCK_ID varchar(128) NOT NULL,
    BLOCKING_ENGINE_TRANSACTION_ID bigint unsigned, BLOCKING_THREAD_ID bigint unsigned, BLOCKING_EVENT_ID bigint unsigned,
    BLOCKING_OBJECT_INSTANCE_BEGIN bigint unsigned NOT NULL
);

CREATE TABLE performance_schema.data_locks (
    ENGINE varchar(32) NOT NULL, ENGINE_LOCK_ID varchar(128) NOT NULL, ENGINE_TRANSACTION_ID bigint unsigned,
    THREAD_ID bigint unsigned, EVENT_ID bigint unsigned, OBJECT_SCHEMA varchar(64), OBJECT_NAME varchar(64),
    PARTITION_NAME varchar(64), SUBPARTITION_NAME varchar(64), INDEX_NAME varchar(64),
    OBJECT_INSTANCE_BEGIN bigint unsigned NOT NULL, LOCK_TYPE varchar(32) NOT NULL, LOCK_MODE varchar(32) NOT NULL,
    LOCK_STATUS varchar(32) NOT NULL, LOCK_DATA varchar(8192)
);

CREATE TABLE performance_schema.events_statements_summary_by_program (
    OBJECT_TYPE enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER'), OBJECT_SCHEMA varchar(64) NOT NULL,
    OBJECT_NAME varchar(64) NOT NULL, COUNT_STAR bigint unsigned NOT NULL, SUM_TIMER_WAIT bigint unsigned NOT NULL,
    MIN_TIMER_WAIT bigint unsigned NOT NULL, AVG_TIMER_WAIT bigint unsigned NOT NULL, MAX_TIMER_WAIT bigint unsigned NOT NULL,
    COUNT_STATEMENTS bigint unsigned NOT NULL, SUM_STATEMENTS_WAIT bigint unsigned NOT NULL,
    MIN_STATEMENTS_WAIT bigint unsigned NOT NULL, AVG_STATEMENTS_WAIT bigint unsigned NOT NULL,
    MAX_STATEMENTS_WAIT bigint unsigned NOT NULL, SUM_LOCK_TIME bigint unsigned NOT NULL, SUM_ERRORS bigint unsigned NOT NULL,
    SUM_WARNINGS bigint unsigned NOT NULL, SUM_ROWS_AFFECTED bigint unsigned NOT NULL, SUM_ROWS_SENT bigint unsigned NOT NULL,
    SUM_ROWS_EXAMINED bigint unsigned NOT NULL, SUM_CREATED_TMP_DISK_TABLES bigint unsigned NOT NULL,
    SUM_CREATED_TMP_TABLES bigint unsigned NOT NULL, SUM_SELECT_FULL_JOIN bigint unsigned NOT NULL,
    SUM_SELECT_FULL_RANGE_JOIN bigint unsigned NOT NULL, SUM_SELECT_RANGE bigint unsigned NOT NULL,
    SUM_SELECT_RANGE_CHECK bigint unsigned NOT NULL, SUM_SELECT_SCAN bigint unsigned NOT NULL,
    SUM_SORT_MERGE_PASSES bigint unsigned NOT NULL, SUM_SORT_RANGE bigint unsigned NOT NULL, SUM_SORT_ROWS bigint unsigned NOT NULL,
    SUM_SORT_SCAN bigint unsigned NOT NULL, SUM_NO_INDEX_USED bigint unsigned NOT NULL,
    SUM_NO_GOOD_INDEX_USED bigint unsigned NOT NULL
);

CREATE TABLE performance_schema.host_cache (
    IP varchar(64) NOT NULL, HOST varchar(255), HOST_VALIDATED enum('YES','NO') NOT NULL, SUM_CONNECT_ERRORS bigint NOT NULL,
    COUNT_HOST_BLOCKED_ERRORS bigint NOT NULL, COUNT_NAMEINFO_TRANSIENT_ERRORS bigint NOT NULL,
    COUNT_NAMEINFO_PERMANENT_ERRORS bigint NOT NULL, COUNT_FORMAT_ERRORS bigint NOT NULL,
    COUNT_ADDRINFO_TRANSIENT_ERRORS bigint NOT NULL, COUNT_ADDRINFO_PERMANENT_ERRORS bigint NOT NULL,
    COUNT_FCRDNS_ERRORS bigint NOT NULL, COUNT_HOST_ACL_ERRORS bigint NOT NULL, COUNT_NO_AUTH_PLUGIN_ERRORS bigint NOT NULL,
    COUNT_AUTH_PLUGIN_ERRORS bigint NOT NULL, COUNT_HANDSHAKE_ERRORS bigint NOT NULL, COUNT_PROXY_USER_ERRORS bigint NOT NULL,
    COUNT_PROXY_USER_ACL_ERRORS bigint NOT NULL, COUNT_AUTHENTICATION_ERRORS bigint NOT NULL, COUNT_SSL_ERRORS bigint NOT NULL,
    COUNT_MAX_USER_CONNECTIONS_ERRORS bigint NOT NULL, COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS bigint NOT NULL,
    COUNT_DEFAULT_DATABASE_ERRORS bigint NOT NULL, COUNT_INIT_CONNECT_ERRORS bigint NOT NULL, COUNT_LOCAL_ERRORS bigint NOT NULL,
    COUNT_UNKNOWN_ERRORS bigint NOT NULL, FIRST_SEEN timestamp NOT NULL, LAST_SEEN timestamp NOT NULL, FIRST_ERROR_SEEN timestamp,
    LAST_ERROR_SEEN timestamp
);

CREATE TABLE performance_schema.metadata_locks (
    OBJECT_TYPE varchar(64) NOT NULL, OBJECT_SCHEMA varchar(64), OBJECT_NAME varchar(64), COLUMN_NAME varchar(64),
    OBJECT_INSTANCE_BEGIN bigint unsigned NOT NULL, LOCK_TYPE varchar(32) NOT NULL, LOCK_DURATION varchar(32) NOT NULL,
    LOCK_STATUS varchar(32) NOT NULL, SOURCE varchar(64), OWNER_THREAD_ID bigint unsigned, OWNER_EVENT_ID bigint unsigned
);

CREATE TABLE performance_schema.objects_summary_global_by_type (
    OBJECT_TYPE varchar(64), OBJECT_SCHEMA varchar(64), OBJECT_NAME varchar(64), COUNT_STAR bigint unsigned NOT NULL,
    SUM_TIMER_WAIT bigint unsigned NOT NULL, MIN_TIMER_WAIT bigint unsigned NOT NULL, AVG_TIMER_WAIT bigint unsigned NOT NULL,
    MAX_TIMER_WAIT bigint unsigned NOT NULL
);

CREATE TABLE performance_schema.persisted_variables (
    VARIABLE_NAME varchar(64) NOT NULL, VARIABLE_VALUE varchar(1024)
);

CREATE TABLE performance_schema.prepared_statements_instances (
    OBJECT_INSTANCE_BEGIN bigint unsigned NOT NULL, STATEMENT_ID bigint unsigned NOT NULL, STATEMENT_NAME varchar(64),
    SQL_TEXT longtext NOT NULL, OWNER_THREAD_ID bigint unsigned NOT NULL, OWNER_EVENT_ID bigint unsigned NOT NULL,
    OWNER_OBJECT_TYPE enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER'), OWNER_OBJECT_SCHEMA varchar(64),
    OWNER_OBJECT_NAME varchar(64), TIMER_PREPARE bigint unsigned NOT NULL, COUNT_REPREPARE bigint unsigned NOT NULL,
    COUNT_EXECUTE bigint unsigned NOT NULL, SUM_TIMER_EXECUTE bigint unsigned NOT NULL, MIN_TIMER_EXECUTE bigint unsigned NOT NULL,
    AVG_TIMER_EXECUTE bigint unsigned NOT NULL, MAX_TIMER_EXECUTE bigint unsigned NOT NULL, SUM_LOCK_TIME bigint unsigned NOT NULL,
    SUM_ERRORS bigint unsigned NOT NULL, SUM_WARNINGS bigint unsigned NOT NULL, SUM_ROWS_AFFECTED bigint unsigned NOT NULL,
    SUM_ROWS_SENT bigint unsigned NOT NULL, SUM_ROWS_EXAMINED bigint unsigned NOT NULL,
    SUM_CREATED_TMP_DISK_TABLES bigint unsigned NOT NULL, SUM_CREATED_TMP_TABLES bigint unsigned NOT NULL,
    SUM_SELECT_FULL_JOIN bigint unsigned NOT NULL, SUM_SELECT_FULL_RANGE_JOIN bigint unsigned NOT NULL,
    SUM_SELECT_RANGE bigint unsigned NOT NULL, SUM_SELECT_RANGE_CHECK bigint unsigned NOT NULL,
    SUM_SELECT_SCAN bigint unsigned NOT NULL, SUM_SORT_MERGE_PASSES bigint unsigned NOT NULL,
    SUM_SORT_RANGE bigint unsigned NOT NULL, SUM_SORT_ROWS bigint unsigned NOT NULL, SUM_SORT_SCAN bigint unsigned NOT NULL,
    SUM_NO_INDEX_USED bigint unsigned NOT NULL, SUM_NO_GOOD_INDEX_USED bigint unsigned NOT NULL
);

CREATE TABLE performance_schema.replication_applier_configuration (
    CHANNEL_NAME char(64) NOT NULL, DESIRED_DELAY int NOT NULL, PRIVILEGE_CHECKS_USER longtext,
    REQUIRE_ROW_FORMAT enum('YES','NO') NOT NULL, REQUIRE_TABLE_PRIMARY_KEY_CHECK enum('STREAM','ON','OFF') NOT NULL,
    ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE enum('OFF','LOCAL','UUID') NOT NULL,
    ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE longtext
);

CREATE TABLE performance_schema.replication_applier_status (
    CHANNEL_NAME char(64) NOT NULL, SERVICE_STATE enum('ON','OFF') NOT NULL, REMAINING_DELAY int unsigned,
    COUNT_TRANSACTIONS_RETRIES bigint unsigned NOT NULL
);

CREATE TABLE performance_schema.replication_applier_status_by_coordinator (
    CHANNEL_NAME char(64) NOT NULL, THREAD_ID bigint unsigned, SERVICE_STATE enum('ON','OFF') NOT NULL,
    LAST_ERROR_NUMBER int NOT NULL, LAST_ERROR_MESSAGE varchar(1024) NOT NULL, LAST_ERROR_TIMESTAMP timestamp(6) NOT NULL,
    LAST_PROCESSED_TRANSACTION char(57), LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    LAST_PROCESSED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP timestamp(6) NOT NULL,
    LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP timestamp(6) NOT NULL, PROCESSING_TRANSACTION char(57),
    PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    PROCESSING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP timestamp(6) NOT NULL
);

CREATE TABLE performance_schema.replication_applier_status_by_worker (
    CHANNEL_NAME char(64) NOT NULL, WORKER_ID bigint unsigned NOT NULL, THREAD_ID bigint unsigned,
    SERVICE_STATE enum('ON','OFF') NOT NULL, LAST_ERROR_NUMBER int NOT NULL, LAST_ERROR_MESSAGE varchar(1024) NOT NULL,
    LAST_ERROR_TIMESTAMP timestamp(6) NOT NULL, LAST_APPLIED_TRANSACTION char(57),
    LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP timestamp(6) NOT NULL,
    LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP timestamp(6) NOT NULL, APPLYING_TRANSACTION char(57),
    APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    APPLYING_TRANSACTION_START_APPLY_TIMESTAMP timestamp(6) NOT NULL,
    LAST_APPLIED_TRANSACTION_RETRIES_COUNT bigint unsigned NOT NULL,
    LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER int NOT NULL,
    LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE varchar(1024),
    LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP timestamp(6) NOT NULL,
    APPLYING_TRANSACTION_RETRIES_COUNT bigint unsigned NOT NULL, APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER int NOT NULL,
    APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE varchar(1024),
    APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP timestamp(6) NOT NULL
);

CREATE TABLE performance_schema.replication_connection_configuration (
    CHANNEL_NAME char(64) NOT NULL, HOST char(255) NOT NULL, PORT int NOT NULL, USER char(32) NOT NULL,
    NETWORK_INTERFACE char(60) NOT NULL, AUTO_POSITION enum('1','0') NOT NULL, SSL_ALLOWED enum('YES','NO','IGNORED') NOT NULL,
    SSL_CA_FILE varchar(512) NOT NULL, SSL_CA_PATH varchar(512) NOT NULL, SSL_CERTIFICATE varchar(512) NOT NULL,
    SSL_CIPHER varchar(512) NOT NULL, SSL_KEY varchar(512) NOT NULL, SSL_VERIFY_SERVER_CERTIFICATE enum('YES','NO') NOT NULL,
    SSL_CRL_FILE varchar(255) NOT NULL, SSL_CRL_PATH varchar(255) NOT NULL, CONNECTION_RETRY_INTERVAL int NOT NULL,
    CONNECTION_RETRY_COUNT bigint unsigned NOT NULL, HEARTBEAT_INTERVAL double NOT NULL, TLS_VERSION varchar(255) NOT NULL,
    PUBLIC_KEY_PATH varchar(512) NOT NULL, GET_PUBLIC_KEY enum('YES','NO') NOT NULL, NETWORK_NAMESPACE varchar(64) NOT NULL,
    COMPRESSION_ALGORITHM char(64) NOT NULL, ZSTD_COMPRESSION_LEVEL int NOT NULL, TLS_CIPHERSUITES longtext,
    SOURCE_CONNECTION_AUTO_FAILOVER enum('1','0') NOT NULL, GTID_ONLY enum('1','0') NOT NULL
);

CREATE TABLE performance_schema.replication_connection_status (
    CHANNEL_NAME char(64) NOT NULL, GROUP_NAME char(36) NOT NULL, SOURCE_UUID char(36) NOT NULL, THREAD_ID bigint unsigned,
    SERVICE_STATE enum('ON','OFF','CONNECTING') NOT NULL, COUNT_RECEIVED_HEARTBEATS bigint unsigned NOT NULL,
    LAST_HEARTBEAT_TIMESTAMP timestamp(6) NOT NULL, RECEIVED_TRANSACTION_SET longtext NOT NULL, LAST_ERROR_NUMBER int NOT NULL,
    LAST_ERROR_MESSAGE varchar(1024) NOT NULL, LAST_ERROR_TIMESTAMP timestamp(6) NOT NULL, LAST_QUEUED_TRANSACTION char(57),
    LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP timestamp(6) NOT NULL,
    LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP timestamp(6) NOT NULL, QUEUEING_TRANSACTION char(57),
    QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    QUEUEING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP timestamp(6) NOT NULL,
    QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP timestamp(6) NOT NULL
);

CREATE TABLE performance_schema.replication_group_member_stats (
    CHANNEL_NAME char(64) NOT NULL, VIEW_ID char(60) NOT NULL, MEMBER_ID char(36) NOT NULL,
    COUNT_TRANSACTIONS_IN_QUEUE bigint unsigned NOT NULL, COUNT_TRANSACTIONS_CHECKED bigint unsigned NOT NULL,
    COUNT_CONFLICTS_DETECTED bigint unsigned NOT NULL, COUNT_TRANSACTIONS_ROWS_VALIDATING bigint unsigned NOT NULL,
    TRANSACTIONS_COMMITTED_ALL_MEMBERS longtext NOT NULL, LAST_CONFLICT_FREE_TRANSACTION longtext NOT NULL,
    COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE bigint unsigned NOT NULL, COUNT_TRANSACTIONS_REMOTE_APPLIED bigint unsigned NOT NULL,
    COUNT_TRANSACTIONS_LOCAL_PROPOSED bigint unsigned NOT NULL, COUNT_TRANSACTIONS_LOCAL_ROLLBACK bigint unsigned NOT NULL
);

CREATE TABLE performance_schema.replication_group_members (
    CHANNEL_NAME char(64) NOT NULL, MEMBER_ID char(36) NOT NULL, MEMBER_HOST char(255) NOT NULL, MEMBER_PORT int,
    MEMBER_STATE char(64) NOT NULL, MEMBER_ROLE char(64) NOT NULL, MEMBER_VERSION char(64) NOT NULL,
    MEMBER_COMMUNICATION_STACK char(64) NOT NULL
);

-- PROCESSLIST_ID is that of a thread of the program's in this schema, and no such thread has logged in. The server's own clients have numbers
-- of their own: joined with the threads, they would tell of one what is true of another.
CREATE TABLE performance_schema.session_account_connect_attrs (
    PROCESSLIST_ID bigint unsigned NOT NULL, ATTR_NAME varchar(32) NOT NULL, ATTR_VALUE varchar(1024), ORDINAL_POSITION int
);

CREATE TABLE performance_schema.session_connect_attrs (
    PROCESSLIST_ID bigint unsigned NOT NULL, ATTR_NAME varchar(32) NOT NULL, ATTR_VALUE varchar(1024), ORDINAL_POSITION int
);

CREATE TABLE performance_schema.setup_objects (
    OBJECT_TYPE enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER') NOT NULL, OBJECT_SCHEMA varchar(64),
    OBJECT_NAME varchar(64) NOT NULL, ENABLED enum('YES','NO') NOT NULL, TIMED enum('YES','NO') NOT NULL
);

CREATE TABLE performance_schema.status_by_thread (
    THREAD_ID bigint unsigned NOT NULL, VARIABLE_NAME varchar(64) NOT NULL, VARIABLE_VALUE varchar(1024)
);

CREATE TABLE performance_schema.table_handles (
    OBJECT_TYPE varchar(64) NOT NULL, OBJECT_SCHEMA varchar(64) NOT NULL, OBJECT_NAME varchar(64) NOT NULL,
    OBJECT_INSTANCE_BEGIN bigint unsigned NOT NULL, OWNER_THREAD_ID bigint unsigned, OWNER_EVENT_ID bigint unsigned,
    INTERNAL_LOCK varchar(64), EXTERNAL_LOCK varchar(64)
);

CREATE TABLE performance_schema.table_io_waits_summary_by_index_usage (
    OBJECT_TYPE varchar(64), OBJECT_SCHEMA varchar(64), OBJECT_NAME varchar(64), INDEX_NAME varchar(64),
    COUNT_STAR bigint unsigned NOT NULL, SUM_TIMER_WAIT bigint unsigned NOT NULL, MIN_TIMER_WAIT bigint unsigned NOT NULL,
    AVG_TIMER_WAIT bigint unsigned NOT NULL, MAX_TIMER_WAIT bigint unsigned NOT NULL, COUNT_READ bigint unsigned NOT NULL,
    SUM_TIMER_READ bigint unsigned NOT NULL, MIN_TIMER_READ bigint unsigned NOT NULL, AVG_TIMER_READ bigint unsigned NOT NULL,
    MAX_TIMER_READ bigint unsigned NOT NULL, COUNT_WRITE bigint unsigned NOT NULL, SUM_TIMER_WRITE bigint unsigned NOT NULL,
    MIN_TIMER_WRITE bigint unsigned NOT NULL, AVG_TIMER_WRITE bigint unsigned NOT NULL, MAX_TIMER_WRITE bigint unsigned NOT NULL,
    COUNT_FETCH bigint unsigned NOT NULL, SUM_TIMER_FETCH bigint unsigned NOT NULL, MIN_TIMER_FETCH bigint unsigned NOT NULL,
    AVG_TIMER_FETCH bigint unsigned NOT NULL, MAX_TIMER_FETCH bigint unsigned NOT NULL, COUNT_INSERT bigint unsigned NOT NULL,
    SUM_TIMER_INSERT bigint unsigned NOT NULL, MIN_TIMER_INSERT bigint unsigned NOT NULL, AVG_TIMER_INSERT bigint unsigned NOT NULL,
    MAX_TIMER_INSERT bigint unsigned NOT NULL, COUNT_UPDATE bigint unsigned NOT NULL, SUM_TIMER_UPDATE bigint unsigned NOT NULL,
    MIN_TIMER_UPDATE bigint unsigned NOT NULL, AVG_TIMER_UPDATE bigint unsigned NOT NULL, MAX_TIMER_UPDATE bigint unsigned NOT NULL,
    COUNT_DELETE bigint unsigned NOT NULL, SUM_TIMER_DELETE bigint unsigned NOT NULL, MIN_TIMER_DELETE bigint unsigned NOT NULL,
    AVG_TIMER_DELETE bigint unsigned NOT NULL, MAX_TIMER_DELETE bigint unsigned NOT NULL
);

CREATE TABLE performance_schema.table_io_waits_summary_by_table (
    OBJECT_TYPE varchar(64), OBJECT_SCHEMA varchar(64), OBJECT_NAME varchar(64), COUNT_STAR bigint unsigned NOT NULL,
    SUM_TIMER_WAIT bigint unsigned NOT NULL, MIN_TIMER_WAIT bigint unsigned NOT NULL, AVG_TIMER_WAIT bigint unsigned NOT NULL,
    MAX_TIMER_WAIT bigint unsigned NOT NULL, COUNT_READ bigint unsigned NOT NULL, SUM_TIMER_READ bigint unsigned NOT NULL,
    MIN_TIMER_READ bigint unsigned NOT NULL, AVG_TIMER_READ bigint unsigned NOT NULL, MAX_TIMER_READ bigint unsigned NOT NULL,
    COUNT_WRITE bigint unsigned NOT NULL, SUM_TIMER_WRITE bigint unsigned NOT NULL, MIN_TIMER_WRITE bigint unsigned NOT NULL,
    AVG_TIMER_WRITE bigint unsigned NOT NULL, MAX_TIMER_WRITE bigint unsigned NOT NULL, COUNT_FETCH bigint unsigned NOT NULL,
    SUM_TIMER_FETCH bigint unsigned NOT NULL, MIN_TIMER_FETCH bigint unsigned NOT NULL, AVG_TIMER_FETCH bigint unsigned NOT NULL,
    MAX_TIMER_FETCH bigint unsigned NOT NULL, COUNT_INSERT bigint unsigned NOT NULL, SUM_TIMER_INSERT bigint unsigned NOT NULL,
    MIN_TIMER_INSERT bigint unsigned NOT NULL, AVG_TIMER_INSERT bigint unsigned NOT NULL, MAX_TIMER_INSERT bigint unsigned NOT NULL,
    COUNT_UPDATE bigint unsigned NOT NULL, SUM_TIMER_UPDATE bigint unsigned NOT NULL, MIN_TIMER_UPDATE bigint unsigned NOT NULL,
    AVG_TIMER_UPDATE bigint unsigned NOT NULL, MAX_TIMER_UPDATE bigint unsigned NOT NULL, COUNT_DELETE bigint unsigned NOT NULL,
    SUM_TIMER_DELETE bigint unsigned NOT NULL, MIN_TIMER_DELETE bigint unsigned NOT NULL, AVG_TIMER_DELETE bigint unsigned NOT NULL,
    MAX_TIMER_DELETE bigint unsigned NOT NULL
);

CREATE TABLE performance_schema.table_lock_waits_summary_by_table (
    OBJECT_TYPE varchar(64), OBJECT_SCHEMA varchar(64), OBJECT_NAME varchar(64), COUNT_STAR bigint unsigned NOT NULL,
    SUM_TIMER_WAIT bigint unsigned NOT NULL, MIN_TIMER_WAIT bigint unsigned NOT NULL, AVG_TIMER_WAIT bigint unsigned NOT NULL,
    MAX_TIMER_WAIT bigint unsigned NOT NULL, COUNT_READ bigint unsigned NOT NULL, SUM_TIMER_READ bigint unsigned NOT NULL,
    MIN_TIMER_READ bigint unsigned NOT NULL, AVG_TIMER_READ bigint unsigned NOT NULL, MAX_TIMER_READ bigint unsigned NOT NULL,
    COUNT_WRITE bigint unsigned NOT NULL, SUM_TIMER_WRITE bigint unsigned NOT NULL, MIN_TIMER_WRITE bigint unsigned NOT NULL,
    AVG_TIMER_WRITE bigint unsigned NOT NULL, MAX_TIMER_WRITE bigint unsigned NOT NULL, COUNT_READ_NORMAL bigint unsigned NOT NULL,
    SUM_TIMER_READ_NORMAL bigint unsigned NOT NULL, MIN_TIMER_READ_NORMAL bigint unsigned NOT NULL,
    AVG_TIMER_READ_NORMAL bigint unsigned NOT NULL, MAX_TIMER_READ_NORMAL bigint unsigned NOT NULL,
    COUNT_READ_WITH_SHARED_LOCKS bigint unsigned NOT NULL, SUM_TIMER_READ_WITH_SHARED_LOCKS bigint unsigned NOT NULL,
    MIN_TIMER_READ_WITH_SHARED_LOCKS bigint unsigned NOT NULL, AVG_TIMER_READ_WITH_SHARED_LOCKS bigint unsigned NOT NULL,
    MAX_TIMER_READ_WITH_SHARED_LOCKS bigint unsigned NOT NULL, COUNT_READ_HIGH_PRIORITY bigint unsigned NOT NULL,
    SUM_TIMER_READ_HIGH_PRIORITY bigint unsigned NOT NULL, MIN_TIMER_READ_HIGH_PRIORITY bigint unsigned NOT NULL,
    AVG_TIMER_READ_HIGH_PRIORITY bigint unsigned NOT NULL, MAX_TIMER_READ_HIGH_PRIORITY bigint unsigned NOT NULL,
    COUNT_READ_NO_INSERT bigint unsigned NOT NULL, SUM_TIMER_READ_NO_INSERT bigint unsigned NOT NULL,
    MIN_TIMER_READ_NO_INSERT bigint unsigned NOT NULL, AVG_TIMER_READ_NO_INSERT bigint unsigned NOT NULL,
    MAX_TIMER_READ_NO_INSERT bigint unsigned NOT NULL, COUNT_READ_EXTERNAL bigint unsigned NOT NULL,
    SUM_TIMER_READ_EXTERNAL bigint unsigned NOT NULL, MIN_TIMER_READ_EXTERNAL bigint unsigned NOT NULL,
    AVG_TIMER_READ_EXTERNAL bigint unsigned NOT NULL, MAX_TIMER_READ_EXTERNAL bigint unsigned NOT NULL,
    COUNT_WRITE_ALLOW_WRITE bigint unsigned NOT NULL, SUM_TIMER_WRITE_ALLOW_WRITE bigint unsigned NOT NULL,
    MIN_TIMER_WRITE_ALLOW_WRITE bigint unsigned NOT NULL, AVG_TIMER_WRITE_ALLOW_WRITE bigint unsigned NOT NULL,
    MAX_TIMER_WRITE_ALLOW_WRITE bigint unsigned NOT NULL, COUNT_WRITE_CONCURRENT_INSERT bigint unsigned NOT NULL,
    SUM_TIMER_WRITE_CONCURRENT_INSERT bigint unsigned NOT NULL, MIN_TIMER_WRITE_CONCURRENT_INSERT bigint unsigned NOT NULL,
    AVG_TIMER_WRITE_CONCURRENT_INSERT bigint unsigned NOT NULL, MAX_TIMER_WRITE_CONCURRENT_INSERT bigint unsigned NOT NULL,
    COUNT_WRITE_LOW_PRIORITY bigint unsigned NOT NULL, SUM_TIMER_WRITE_LOW_PRIORITY bigint unsigned NOT NULL,
    MIN_TIMER_WRITE_LOW_PRIORITY bigint unsigned NOT NULL, AVG_TIMER_WRITE_LOW_PRIORITY bigint unsigned NOT NULL,
    MAX_TIMER_WRITE_LOW_PRIORITY bigint unsigned NOT NULL, COUNT_WRITE_NORMAL bigint unsigned NOT NULL,
    SUM_TIMER_WRITE_NORMAL bigint unsigned NOT NULL, MIN_TIMER_WRITE_NORMAL bigint unsigned NOT NULL,
    AVG_TIMER_WRITE_NORMAL bigint unsigned NOT NULL, MAX_TIMER_WRITE_NORMAL bigint unsigned NOT NULL,
    COUNT_WRITE_EXTERNAL bigint unsigned NOT NULL, SUM_TIMER_WRITE_EXTERNAL bigint unsigned NOT NULL,
    MIN_TIMER_WRITE_EXTERNAL bigint unsigned NOT NULL, AVG_TIMER_WRITE_EXTERNAL bigint unsigned NOT NULL,
    MAX_TIMER_WRITE_EXTERNAL bigint unsigned NOT NULL
);

CREATE TABLE performance_schema.user_variables_by_thread (
    THREAD_ID bigint unsigned NOT NULL, VARIABLE_NAME varchar(64) NOT NULL, VARIABLE_VALUE longtext
);

CREATE TABLE performance_schema.variables_by_thread (
    THREAD_ID bigint unsigned NOT NULL, VARIABLE_NAME varchar(64) NOT NULL, VARIABLE_VALUE varchar(1024)
);
