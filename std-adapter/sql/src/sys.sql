-- The views of schema sys. Names, columns and order are those of MySQL's sys schema where it has the view; each view with formatted
-- times has a twin x$… with plain numbers. An average is that of the timed events: COUNT_TIMER_WAIT, a column that is shown only where it
-- is named, is their number.

CREATE VIEW sys.`waits_global_by_latency` AS
SELECT EVENT_NAME AS events, COUNT_STAR AS total, format_pico_time(SUM_TIMER_WAIT) AS total_latency,
       format_pico_time(AVG_TIMER_WAIT) AS avg_latency, format_pico_time(MAX_TIMER_WAIT) AS max_latency
  FROM performance_schema.events_waits_summary_global_by_event_name
 WHERE EVENT_NAME <> 'idle' AND SUM_TIMER_WAIT > 0
 ORDER BY SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`x$waits_global_by_latency` AS
SELECT EVENT_NAME AS events, COUNT_STAR AS total, SUM_TIMER_WAIT AS total_latency, AVG_TIMER_WAIT AS avg_latency,
       MAX_TIMER_WAIT AS max_latency
  FROM performance_schema.events_waits_summary_global_by_event_name
 WHERE EVENT_NAME <> 'idle' AND SUM_TIMER_WAIT > 0
 ORDER BY SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`x$waits_by_user_by_latency` AS
SELECT IFNULL(t.PROCESSLIST_USER, 'background') AS user, s.EVENT_NAME AS event, SUM(s.COUNT_STAR) AS total,
       SUM(s.SUM_TIMER_WAIT) AS total_latency, SUM(s.SUM_TIMER_WAIT) DIV SUM(s.COUNT_TIMER_WAIT) AS avg_latency,
       MAX(s.MAX_TIMER_WAIT) AS max_latency
  FROM performance_schema.events_waits_summary_by_thread_by_event_name s JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 WHERE s.EVENT_NAME <> 'idle' AND s.SUM_TIMER_WAIT > 0
 GROUP BY IFNULL(t.PROCESSLIST_USER, 'background'), s.EVENT_NAME
 ORDER BY IFNULL(t.PROCESSLIST_USER, 'background'), SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`waits_by_user_by_latency` AS
SELECT user, event, total, format_pico_time(total_latency) AS total_latency, format_pico_time(avg_latency) AS avg_latency,
       format_pico_time(max_latency) AS max_latency
  FROM sys.`x$waits_by_user_by_latency` w
 ORDER BY w.user, w.total_latency DESC;

CREATE VIEW sys.`x$waits_by_host_by_latency` AS
SELECT IFNULL(t.PROCESSLIST_HOST, 'background') AS host, s.EVENT_NAME AS event, SUM(s.COUNT_STAR) AS total,
       SUM(s.SUM_TIMER_WAIT) AS total_latency, SUM(s.SUM_TIMER_WAIT) DIV SUM(s.COUNT_TIMER_WAIT) AS avg_latency,
       MAX(s.MAX_TIMER_WAIT) AS max_latency
  FROM performance_schema.events_waits_summary_by_thread_by_event_name s JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 WHERE s.EVENT_NAME <> 'idle' AND s.SUM_TIMER_WAIT > 0
 GROUP BY IFNULL(t.PROCESSLIST_HOST, 'background'), s.EVENT_NAME
 ORDER BY IFNULL(t.PROCESSLIST_HOST, 'background'), SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`waits_by_host_by_latency` AS
SELECT host, event, total, format_pico_time(total_latency) AS total_latency, format_pico_time(avg_latency) AS avg_latency,
       format_pico_time(max_latency) AS max_latency
  FROM sys.`x$waits_by_host_by_latency` w
 ORDER BY w.host, w.total_latency DESC;

CREATE VIEW sys.`x$wait_classes_global_by_latency` AS
SELECT SUBSTRING_INDEX(EVENT_NAME, '/', 3) AS event_class, SUM(COUNT_STAR) AS total, SUM(SUM_TIMER_WAIT) AS total_latency,
       MIN(MIN_TIMER_WAIT) AS min_latency, IFNULL(SUM(SUM_TIMER_WAIT) DIV NULLIF(SUM(COUNT_TIMER_WAIT), 0), 0) AS avg_latency,
       MAX(MAX_TIMER_WAIT) AS max_latency
  FROM performance_schema.events_waits_summary_global_by_event_name
 WHERE SUM_TIMER_WAIT > 0 AND EVENT_NAME <> 'idle'
 GROUP BY SUBSTRING_INDEX(EVENT_NAME, '/', 3)
 ORDER BY SUM(SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`wait_classes_global_by_latency` AS
SELECT event_class, total, format_pico_time(total_latency) AS total_latency, format_pico_time(min_latency) AS min_latency,
       format_pico_time(avg_latency) AS avg_latency, format_pico_time(max_latency) AS max_latency
  FROM sys.`x$wait_classes_global_by_latency` w
 ORDER BY w.total_latency DESC;

CREATE VIEW sys.`x$wait_classes_global_by_avg_latency` AS
SELECT event_class, total, total_latency, min_latency, avg_latency, max_latency
  FROM sys.`x$wait_classes_global_by_latency` w
 ORDER BY w.avg_latency DESC;

CREATE VIEW sys.`wait_classes_global_by_avg_latency` AS
SELECT event_class, total, format_pico_time(total_latency) AS total_latency, format_pico_time(min_latency) AS min_latency,
       format_pico_time(avg_latency) AS avg_latency, format_pico_time(max_latency) AS max_latency
  FROM sys.`x$wait_classes_global_by_latency` w
 ORDER BY w.avg_latency DESC;

-- Who holds what now, and where it was taken: the holder's last wait for that object that its history still has.
CREATE VIEW sys.`x$lock_holders` AS
SELECT h.OBJECT_INSTANCE_BEGIN AS object_instance_begin, h.THREAD_ID AS thread_id,
       (SELECT w.SOURCE FROM performance_schema.events_waits_history w
         WHERE w.THREAD_ID = h.THREAD_ID AND w.OBJECT_INSTANCE_BEGIN = h.OBJECT_INSTANCE_BEGIN
         ORDER BY w.EVENT_ID DESC LIMIT 1) AS source
  FROM (SELECT OBJECT_INSTANCE_BEGIN, LOCKED_BY_THREAD_ID AS THREAD_ID FROM performance_schema.mutex_instances
         WHERE LOCKED_BY_THREAD_ID IS NOT NULL
        UNION ALL
        SELECT OBJECT_INSTANCE_BEGIN, WRITE_LOCKED_BY_THREAD_ID FROM performance_schema.rwlock_instances
         WHERE WRITE_LOCKED_BY_THREAD_ID IS NOT NULL) h;

-- What every thread waits for at this moment, and for how long so far. The holder is NULL where nobody is known to hold the object: a
-- condition, a read lock held by several, a wait that is just over. Who has waited for a second for what it holds itself has locked it twice; before,
-- it may have got it between the looks at the one table and the other. Of a program that has ended nobody knows how long, and nothing changes between looks.
CREATE VIEW sys.`x$current_waits` AS
SELECT w.THREAD_ID AS thread_id, t.NAME AS thread_name, w.EVENT_NAME AS event_name, w.OPERATION AS operation,
       w.OBJECT_INSTANCE_BEGIN AS object_instance_begin, w.OBJECT_NAME AS object_name, w.SOURCE AS source,
       sys.`@time_since`(IF(w.EVENT_NAME = 'idle', 'idle', 'wait'), w.TIMER_START) AS wait_so_far,
       h.thread_id AS holder_thread_id, ht.NAME AS holder_thread_name, h.source AS holder_source
  FROM performance_schema.events_waits_current w
       LEFT JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID
       LEFT JOIN sys.`x$lock_holders` h ON h.object_instance_begin = w.OBJECT_INSTANCE_BEGIN
                 AND (h.thread_id <> w.THREAD_ID
                      OR IFNULL(sys.`@time_since`('wait', w.TIMER_START) >= 1000000000000, w.TIMER_START IS NOT NULL))
       LEFT JOIN performance_schema.threads ht ON ht.THREAD_ID = h.thread_id
 WHERE w.END_EVENT_ID IS NULL
 ORDER BY w.TIMER_START;

CREATE VIEW sys.`current_waits` AS
SELECT thread_id, thread_name, event_name, operation, object_instance_begin, object_name, source,
       format_pico_time(wait_so_far) AS wait_so_far, holder_thread_id, holder_thread_name, holder_source
  FROM sys.`x$current_waits` c
 ORDER BY c.wait_so_far DESC;

-- Only the waits for an object that a thread holds: who waits for whom. What the holder itself waits for shows a chain, or a deadlock.
CREATE VIEW sys.`x$lock_waits` AS
SELECT c.event_name AS locked_event_name, c.object_instance_begin AS object_instance_begin, c.operation AS operation,
       c.wait_so_far AS wait_so_far, c.thread_id AS waiting_thread_id, c.thread_name AS waiting_thread_name, c.source AS waiting_source,
       c.holder_thread_id AS blocking_thread_id, c.holder_thread_name AS blocking_thread_name, c.holder_source AS blocking_source,
       b.EVENT_NAME AS blocking_waits_for, b.SOURCE AS blocking_waits_source
  FROM sys.`x$current_waits` c
       LEFT JOIN performance_schema.events_waits_current b ON b.THREAD_ID = c.holder_thread_id AND b.END_EVENT_ID IS NULL
 WHERE c.holder_thread_id IS NOT NULL
 ORDER BY c.wait_so_far DESC;

CREATE VIEW sys.`lock_waits` AS
SELECT locked_event_name, object_instance_begin, operation, format_pico_time(wait_so_far) AS wait_so_far, waiting_thread_id,
       waiting_thread_name, waiting_source, blocking_thread_id, blocking_thread_name, blocking_source, blocking_waits_for,
       blocking_waits_source
  FROM sys.`x$lock_waits` l
 ORDER BY l.wait_so_far DESC;

-- What every thread is doing at this moment, for how long so far, and how far it is, in percent where it says so.
CREATE VIEW sys.`x$current_stages` AS
SELECT s.THREAD_ID AS thread_id, t.NAME AS thread_name, s.EVENT_NAME AS event_name, s.SOURCE AS source,
       sys.`@time_since`('stage', s.TIMER_START) AS stage_so_far, s.WORK_COMPLETED AS work_completed,
       s.WORK_ESTIMATED AS work_estimated, ROUND(100 * (s.WORK_COMPLETED / s.WORK_ESTIMATED), 2) AS progress
  FROM performance_schema.events_stages_current s
       LEFT JOIN performance_schema.threads t ON t.THREAD_ID = s.THREAD_ID
 WHERE s.END_EVENT_ID IS NULL
 ORDER BY s.TIMER_START;

CREATE VIEW sys.`current_stages` AS
SELECT thread_id, thread_name, event_name, source, format_pico_time(stage_so_far) AS stage_so_far, work_completed, work_estimated,
       progress
  FROM sys.`x$current_stages` c
 ORDER BY c.stage_so_far DESC;

CREATE VIEW sys.`x$host_summary_by_stages` AS
SELECT IFNULL(t.PROCESSLIST_HOST, 'background') AS host, s.EVENT_NAME AS event_name, SUM(s.COUNT_STAR) AS total,
       SUM(s.SUM_TIMER_WAIT) AS total_latency, SUM(s.SUM_TIMER_WAIT) DIV SUM(s.COUNT_TIMER_WAIT) AS avg_latency
  FROM performance_schema.events_stages_summary_by_thread_by_event_name s JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 WHERE s.SUM_TIMER_WAIT <> 0
 GROUP BY IFNULL(t.PROCESSLIST_HOST, 'background'), s.EVENT_NAME
 ORDER BY IFNULL(t.PROCESSLIST_HOST, 'background'), SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`host_summary_by_stages` AS
SELECT host, event_name, total, format_pico_time(total_latency) AS total_latency, format_pico_time(avg_latency) AS avg_latency
  FROM sys.`x$host_summary_by_stages` s
 ORDER BY s.host, s.total_latency DESC;

CREATE VIEW sys.`x$user_summary_by_stages` AS
SELECT IFNULL(t.PROCESSLIST_USER, 'background') AS user, s.EVENT_NAME AS event_name, SUM(s.COUNT_STAR) AS total,
       SUM(s.SUM_TIMER_WAIT) AS total_latency, SUM(s.SUM_TIMER_WAIT) DIV SUM(s.COUNT_TIMER_WAIT) AS avg_latency
  FROM performance_schema.events_stages_summary_by_thread_by_event_name s JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 WHERE s.SUM_TIMER_WAIT <> 0
 GROUP BY IFNULL(t.PROCESSLIST_USER, 'background'), s.EVENT_NAME
 ORDER BY IFNULL(t.PROCESSLIST_USER, 'background'), SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`user_summary_by_stages` AS
SELECT user, event_name, total, format_pico_time(total_latency) AS total_latency, format_pico_time(avg_latency) AS avg_latency
  FROM sys.`x$user_summary_by_stages` s
 ORDER BY s.user, s.total_latency DESC;

-- What every thread executes at this moment, for how long so far, and how far it has come. Of statements within one another all have
-- a row, the outermost first.
CREATE VIEW sys.`x$current_statements` AS
SELECT s.THREAD_ID AS thread_id, t.NAME AS thread_name, s.EVENT_NAME AS event_name, s.SQL_TEXT AS sql_text,
       s.CURRENT_SCHEMA AS current_schema, s.SOURCE AS source, s.NESTING_EVENT_LEVEL AS nesting_event_level,
       sys.`@time_since`('statement', s.TIMER_START) AS statement_so_far, s.LOCK_TIME AS lock_latency, s.ROWS_SENT AS rows_sent,
       s.ROWS_EXAMINED AS rows_examined, s.ROWS_AFFECTED AS rows_affected
  FROM performance_schema.events_statements_current s
       LEFT JOIN performance_schema.threads t ON t.THREAD_ID = s.THREAD_ID
 WHERE s.END_EVENT_ID IS NULL
 ORDER BY s.TIMER_START;

CREATE VIEW sys.`current_statements` AS
SELECT thread_id, thread_name, event_name, sys.format_statement(sql_text) AS sql_text, current_schema, source, nesting_event_level,
       format_pico_time(statement_so_far) AS statement_so_far, format_pico_time(lock_latency) AS lock_latency, rows_sent, rows_examined,
       rows_affected
  FROM sys.`x$current_statements` c
 ORDER BY c.statement_so_far DESC;

-- The transactions that go on at this moment, and for how long so far. What is executed in it is the last statement that lies directly within
-- it, or the one that it lies within; where that is NULL, the thread does nothing in it. The oldest first, also of a program that has ended, of
-- which nobody knows for how long.
CREATE VIEW sys.`x$current_transactions` AS
SELECT x.THREAD_ID AS thread_id, t.NAME AS thread_name, x.TRX_ID AS trx_id, x.ACCESS_MODE AS access_mode,
       x.ISOLATION_LEVEL AS isolation_level, x.AUTOCOMMIT AS autocommit, x.SOURCE AS source,
       sys.`@time_since`('transaction', x.TIMER_START) AS transaction_so_far, IFNULL(s.SQL_TEXT, o.SQL_TEXT) AS current_statement,
       x.NUMBER_OF_SAVEPOINTS AS savepoints
  FROM performance_schema.events_transactions_current x
       LEFT JOIN performance_schema.threads t ON t.THREAD_ID = x.THREAD_ID
       LEFT JOIN (SELECT THREAD_ID, NESTING_EVENT_ID, MAX(EVENT_ID) AS last FROM performance_schema.events_statements_current
                   WHERE END_EVENT_ID IS NULL AND NESTING_EVENT_TYPE = 'TRANSACTION' GROUP BY THREAD_ID, NESTING_EVENT_ID) l
         ON l.THREAD_ID = x.THREAD_ID AND l.NESTING_EVENT_ID = x.EVENT_ID
       LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = l.THREAD_ID AND s.EVENT_ID = l.last
       LEFT JOIN performance_schema.events_statements_current o
         ON o.THREAD_ID = x.THREAD_ID AND o.EVENT_ID = x.NESTING_EVENT_ID AND x.NESTING_EVENT_TYPE = 'STATEMENT'
 WHERE x.END_EVENT_ID IS NULL
 ORDER BY x.TIMER_START;

CREATE VIEW sys.`current_transactions` AS
SELECT thread_id, thread_name, trx_id, access_mode, isolation_level, autocommit, source,
       format_pico_time(transaction_so_far) AS transaction_so_far, sys.format_statement(current_statement) AS current_statement,
       savepoints
  FROM sys.`x$current_transactions` c;

-- What every thread does, and did last: MySQL's columns, NULL where there is nothing here. Of statements within one another the outermost,
-- which current_statement is, too, and of transactions; of waits the innermost.
CREATE VIEW sys.`x$processlist` AS
SELECT t.THREAD_ID AS thd_id, t.PROCESSLIST_ID AS conn_id,
       IF(t.PROCESSLIST_USER IS NULL, REPLACE(t.NAME, 'thread/', ''),
          CONCAT(t.PROCESSLIST_USER, '@', IFNULL(t.PROCESSLIST_HOST, ''))) AS user,
       t.PROCESSLIST_DB AS db, t.PROCESSLIST_COMMAND AS command, t.PROCESSLIST_STATE AS state, t.PROCESSLIST_TIME AS time,
       t.PROCESSLIST_INFO AS current_statement, IF(s.THREAD_ID IS NULL, NULL, 'PRIMARY') AS execution_engine,
       IF(s.END_EVENT_ID IS NULL, sys.`@time_since`('statement', s.TIMER_START), NULL) AS statement_latency,
       IF(s.END_EVENT_ID IS NULL AND g.END_EVENT_ID IS NULL, ROUND(100 * (g.WORK_COMPLETED / g.WORK_ESTIMATED), 2), NULL) AS progress,
       s.LOCK_TIME AS lock_latency, NULL AS cpu_latency, s.ROWS_EXAMINED AS rows_examined, s.ROWS_SENT AS rows_sent,
       s.ROWS_AFFECTED AS rows_affected, s.CREATED_TMP_TABLES AS tmp_tables, s.CREATED_TMP_DISK_TABLES AS tmp_disk_tables,
       IF(s.NO_GOOD_INDEX_USED > 0 OR s.NO_INDEX_USED > 0, 'YES', 'NO') AS full_scan,
       IF(s.END_EVENT_ID IS NULL, NULL, s.SQL_TEXT) AS last_statement,
       IF(s.END_EVENT_ID IS NULL, NULL, s.TIMER_WAIT) AS last_statement_latency, m.current_allocated AS current_memory,
       w.EVENT_NAME AS last_wait, IF(w.END_EVENT_ID IS NULL AND w.THREAD_ID IS NOT NULL, 'Still Waiting', w.TIMER_WAIT) AS last_wait_latency,
       w.SOURCE AS source,
       IF(x.END_EVENT_ID IS NULL, sys.`@time_since`('transaction', x.TIMER_START), x.TIMER_WAIT) AS trx_latency, x.STATE AS trx_state,
       x.AUTOCOMMIT AS trx_autocommit, NULL AS pid, NULL AS program_name
  FROM performance_schema.threads t
       LEFT JOIN (SELECT THREAD_ID, MIN(EVENT_ID) AS outermost FROM performance_schema.events_statements_current GROUP BY THREAD_ID) o
         ON o.THREAD_ID = t.THREAD_ID
       LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = o.THREAD_ID AND s.EVENT_ID = o.outermost
       LEFT JOIN performance_schema.events_stages_current g ON g.THREAD_ID = t.THREAD_ID
       LEFT JOIN (SELECT THREAD_ID, MAX(EVENT_ID) AS innermost FROM performance_schema.events_waits_current GROUP BY THREAD_ID) i
         ON i.THREAD_ID = t.THREAD_ID
       LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = i.THREAD_ID AND w.EVENT_ID = i.innermost
       LEFT JOIN (SELECT THREAD_ID, MIN(EVENT_ID) AS outermost FROM performance_schema.events_transactions_current GROUP BY THREAD_ID) y
         ON y.THREAD_ID = t.THREAD_ID
       LEFT JOIN performance_schema.events_transactions_current x ON x.THREAD_ID = y.THREAD_ID AND x.EVENT_ID = y.outermost
       LEFT JOIN sys.`x$memory_by_thread_by_current_bytes` m ON m.thread_id = t.THREAD_ID
 ORDER BY t.PROCESSLIST_TIME DESC, last_wait_latency DESC;

CREATE VIEW sys.`processlist` AS
SELECT p.thd_id, p.conn_id, p.user, p.db, p.command, p.state, p.time, sys.format_statement(p.current_statement) AS current_statement,
       p.execution_engine, format_pico_time(p.statement_latency) AS statement_latency, p.progress,
       format_pico_time(p.lock_latency) AS lock_latency, format_pico_time(p.cpu_latency) AS cpu_latency, p.rows_examined, p.rows_sent,
       p.rows_affected, p.tmp_tables, p.tmp_disk_tables, p.full_scan, sys.format_statement(p.last_statement) AS last_statement,
       format_pico_time(p.last_statement_latency) AS last_statement_latency, sys.format_bytes(p.current_memory) AS current_memory,
       p.last_wait,
       IF(p.last_wait_latency = 'Still Waiting', p.last_wait_latency, format_pico_time(p.last_wait_latency)) AS last_wait_latency,
       p.source, format_pico_time(p.trx_latency) AS trx_latency, p.trx_state, p.trx_autocommit, p.pid, p.program_name
  FROM sys.`x$processlist` p
 ORDER BY p.time DESC, p.last_wait_latency DESC;

CREATE VIEW sys.`x$session` AS
SELECT thd_id, conn_id, user, db, command, state, time, current_statement, execution_engine, statement_latency, progress, lock_latency,
       cpu_latency, rows_examined, rows_sent, rows_affected, tmp_tables, tmp_disk_tables, full_scan, last_statement,
       last_statement_latency, current_memory, last_wait, last_wait_latency, source, trx_latency, trx_state, trx_autocommit, pid,
       program_name
  FROM sys.`x$processlist` p
 WHERE p.conn_id IS NOT NULL AND p.command <> 'Daemon';

CREATE VIEW sys.`session` AS
SELECT thd_id, conn_id, user, db, command, state, time, current_statement, execution_engine, statement_latency, progress, lock_latency,
       cpu_latency, rows_examined, rows_sent, rows_affected, tmp_tables, tmp_disk_tables, full_scan, last_statement,
       last_statement_latency, current_memory, last_wait, last_wait_latency, source, trx_latency, trx_state, trx_autocommit, pid,
       program_name
  FROM sys.`processlist` p
 WHERE p.conn_id IS NOT NULL AND p.command <> 'Daemon';

CREATE VIEW sys.`x$host_summary_by_statement_type` AS
SELECT IFNULL(t.PROCESSLIST_HOST, 'background') AS host, SUBSTRING_INDEX(s.EVENT_NAME, '/', -1) AS statement, SUM(s.COUNT_STAR) AS total,
       SUM(s.SUM_TIMER_WAIT) AS total_latency, MAX(s.MAX_TIMER_WAIT) AS max_latency, SUM(s.SUM_LOCK_TIME) AS lock_latency,
       SUM(s.SUM_ROWS_SENT) AS rows_sent, SUM(s.SUM_ROWS_EXAMINED) AS rows_examined, SUM(s.SUM_ROWS_AFFECTED) AS rows_affected,
       SUM(s.SUM_NO_INDEX_USED) + SUM(s.SUM_NO_GOOD_INDEX_USED) AS full_scans
  FROM performance_schema.events_statements_summary_by_thread_by_event_name s
       JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 WHERE s.SUM_TIMER_WAIT <> 0
 GROUP BY IFNULL(t.PROCESSLIST_HOST, 'background'), s.EVENT_NAME
 ORDER BY IFNULL(t.PROCESSLIST_HOST, 'background'), SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`host_summary_by_statement_type` AS
SELECT host, statement, total, format_pico_time(total_latency) AS total_latency, format_pico_time(max_latency) AS max_latency,
       format_pico_time(lock_latency) AS lock_latency, rows_sent, rows_examined, rows_affected, full_scans
  FROM sys.`x$host_summary_by_statement_type` s
 ORDER BY s.host, s.total_latency DESC;

CREATE VIEW sys.`x$host_summary_by_statement_latency` AS
SELECT IFNULL(t.PROCESSLIST_HOST, 'background') AS host, SUM(s.COUNT_STAR) AS total, SUM(s.SUM_TIMER_WAIT) AS total_latency,
       MAX(s.MAX_TIMER_WAIT) AS max_latency, SUM(s.SUM_LOCK_TIME) AS lock_latency, SUM(s.SUM_ROWS_SENT) AS rows_sent,
       SUM(s.SUM_ROWS_EXAMINED) AS rows_examined, SUM(s.SUM_ROWS_AFFECTED) AS rows_affected,
       SUM(s.SUM_NO_INDEX_USED) + SUM(s.SUM_NO_GOOD_INDEX_USED) AS full_scans
  FROM performance_schema.events_statements_summary_by_thread_by_event_name s
       JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 GROUP BY IFNULL(t.PROCESSLIST_HOST, 'background')
 ORDER BY SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`host_summary_by_statement_latency` AS
SELECT host, total, format_pico_time(total_latency) AS total_latency, format_pico_time(max_latency) AS max_latency,
       format_pico_time(lock_latency) AS lock_latency, rows_sent, rows_examined, rows_affected, full_scans
  FROM sys.`x$host_summary_by_statement_latency` s
 ORDER BY s.total_latency DESC;

-- max_latency is the longest of all, as MySQL documents it; its view for users adds up those of each type.
CREATE VIEW sys.`x$user_summary_by_statement_type` AS
SELECT IFNULL(t.PROCESSLIST_USER, 'background') AS user, SUBSTRING_INDEX(s.EVENT_NAME, '/', -1) AS statement, SUM(s.COUNT_STAR) AS total,
       SUM(s.SUM_TIMER_WAIT) AS total_latency, MAX(s.MAX_TIMER_WAIT) AS max_latency, SUM(s.SUM_LOCK_TIME) AS lock_latency,
       SUM(s.SUM_ROWS_SENT) AS rows_sent, SUM(s.SUM_ROWS_EXAMINED) AS rows_examined, SUM(s.SUM_ROWS_AFFECTED) AS rows_affected,
       SUM(s.SUM_NO_INDEX_USED) + SUM(s.SUM_NO_GOOD_INDEX_USED) AS full_scans
  FROM performance_schema.events_statements_summary_by_thread_by_event_name s
       JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 WHERE s.SUM_TIMER_WAIT <> 0
 GROUP BY IFNULL(t.PROCESSLIST_USER, 'background'), s.EVENT_NAME
 ORDER BY IFNULL(t.PROCESSLIST_USER, 'background'), SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`user_summary_by_statement_type` AS
SELECT user, statement, total, format_pico_time(total_latency) AS total_latency, format_pico_time(max_latency) AS max_latency,
       format_pico_time(lock_latency) AS lock_latency, rows_sent, rows_examined, rows_affected, full_scans
  FROM sys.`x$user_summary_by_statement_type` s
 ORDER BY s.user, s.total_latency DESC;

CREATE VIEW sys.`x$user_summary_by_statement_latency` AS
SELECT IFNULL(t.PROCESSLIST_USER, 'background') AS user, SUM(s.COUNT_STAR) AS total, SUM(s.SUM_TIMER_WAIT) AS total_latency,
       MAX(s.MAX_TIMER_WAIT) AS max_latency, SUM(s.SUM_LOCK_TIME) AS lock_latency, SUM(s.SUM_ROWS_SENT) AS rows_sent,
       SUM(s.SUM_ROWS_EXAMINED) AS rows_examined, SUM(s.SUM_ROWS_AFFECTED) AS rows_affected,
       SUM(s.SUM_NO_INDEX_USED) + SUM(s.SUM_NO_GOOD_INDEX_USED) AS full_scans
  FROM performance_schema.events_statements_summary_by_thread_by_event_name s
       JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 GROUP BY IFNULL(t.PROCESSLIST_USER, 'background')
 ORDER BY SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`user_summary_by_statement_latency` AS
SELECT user, total, format_pico_time(total_latency) AS total_latency, format_pico_time(max_latency) AS max_latency,
       format_pico_time(lock_latency) AS lock_latency, rows_sent, rows_examined, rows_affected, full_scans
  FROM sys.`x$user_summary_by_statement_latency` s
 ORDER BY s.total_latency DESC;

-- ---------------------------------------------------------------------------------------------------------------------------------
-- Io: files. MySQL shortens paths by what it knows of its own folders (format_path); a program has none, so paths stay as they are.
-- ---------------------------------------------------------------------------------------------------------------------------------

CREATE VIEW sys.`x$io_global_by_file_by_bytes` AS
SELECT FILE_NAME AS file, COUNT_READ AS count_read, SUM_NUMBER_OF_BYTES_READ AS total_read,
       IFNULL(SUM_NUMBER_OF_BYTES_READ / NULLIF(COUNT_READ, 0), 0) AS avg_read, COUNT_WRITE AS count_write,
       SUM_NUMBER_OF_BYTES_WRITE AS total_written, IFNULL(SUM_NUMBER_OF_BYTES_WRITE / NULLIF(COUNT_WRITE, 0), 0) AS avg_write,
       SUM_NUMBER_OF_BYTES_READ + SUM_NUMBER_OF_BYTES_WRITE AS total,
       IFNULL(ROUND(100 - SUM_NUMBER_OF_BYTES_READ * 100 / NULLIF(SUM_NUMBER_OF_BYTES_READ + SUM_NUMBER_OF_BYTES_WRITE, 0), 2), 0)
           AS write_pct
  FROM performance_schema.file_summary_by_instance
 ORDER BY SUM_NUMBER_OF_BYTES_READ + SUM_NUMBER_OF_BYTES_WRITE DESC;

CREATE VIEW sys.`io_global_by_file_by_bytes` AS
SELECT file, count_read, sys.format_bytes(total_read) AS total_read, sys.format_bytes(avg_read) AS avg_read, count_write,
       sys.format_bytes(total_written) AS total_written, sys.format_bytes(avg_write) AS avg_write, sys.format_bytes(total) AS total,
       write_pct
  FROM sys.`x$io_global_by_file_by_bytes` f
 ORDER BY f.total DESC;

CREATE VIEW sys.`x$io_global_by_file_by_latency` AS
SELECT FILE_NAME AS file, COUNT_STAR AS total, SUM_TIMER_WAIT AS total_latency, COUNT_READ AS count_read,
       SUM_TIMER_READ AS read_latency, COUNT_WRITE AS count_write, SUM_TIMER_WRITE AS write_latency, COUNT_MISC AS count_misc,
       SUM_TIMER_MISC AS misc_latency
  FROM performance_schema.file_summary_by_instance
 ORDER BY SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`io_global_by_file_by_latency` AS
SELECT file, total, format_pico_time(total_latency) AS total_latency, count_read, format_pico_time(read_latency) AS read_latency,
       count_write, format_pico_time(write_latency) AS write_latency, count_misc, format_pico_time(misc_latency) AS misc_latency
  FROM sys.`x$io_global_by_file_by_latency` f
 ORDER BY f.total_latency DESC;

CREATE VIEW sys.`x$io_global_by_wait_by_bytes` AS
SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -2) AS event_name, COUNT_STAR AS total, SUM_TIMER_WAIT AS total_latency,
       MIN_TIMER_WAIT AS min_latency, AVG_TIMER_WAIT AS avg_latency, MAX_TIMER_WAIT AS max_latency, COUNT_READ AS count_read,
       SUM_NUMBER_OF_BYTES_READ AS total_read, IFNULL(SUM_NUMBER_OF_BYTES_READ / NULLIF(COUNT_READ, 0), 0) AS avg_read,
       COUNT_WRITE AS count_write, SUM_NUMBER_OF_BYTES_WRITE AS total_written,
       IFNULL(SUM_NUMBER_OF_BYTES_WRITE / NULLIF(COUNT_WRITE, 0), 0) AS avg_written,
       SUM_NUMBER_OF_BYTES_WRITE + SUM_NUMBER_OF_BYTES_READ AS total_requested
  FROM performance_schema.file_summary_by_event_name
 WHERE EVENT_NAME LIKE 'wait/io/file/%' AND COUNT_STAR > 0
 ORDER BY SUM_NUMBER_OF_BYTES_WRITE + SUM_NUMBER_OF_BYTES_READ DESC;

CREATE VIEW sys.`io_global_by_wait_by_bytes` AS
SELECT event_name, total, format_pico_time(total_latency) AS total_latency, format_pico_time(min_latency) AS min_latency,
       format_pico_time(avg_latency) AS avg_latency, format_pico_time(max_latency) AS max_latency, count_read,
       sys.format_bytes(total_read) AS total_read, sys.format_bytes(avg_read) AS avg_read, count_write,
       sys.format_bytes(total_written) AS total_written, sys.format_bytes(avg_written) AS avg_written,
       sys.format_bytes(total_requested) AS total_requested
  FROM sys.`x$io_global_by_wait_by_bytes` w
 ORDER BY w.total_requested DESC;

CREATE VIEW sys.`x$io_global_by_wait_by_latency` AS
SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -2) AS event_name, COUNT_STAR AS total, SUM_TIMER_WAIT AS total_latency,
       AVG_TIMER_WAIT AS avg_latency, MAX_TIMER_WAIT AS max_latency, SUM_TIMER_READ AS read_latency, SUM_TIMER_WRITE AS write_latency,
       SUM_TIMER_MISC AS misc_latency, COUNT_READ AS count_read, SUM_NUMBER_OF_BYTES_READ AS total_read,
       IFNULL(SUM_NUMBER_OF_BYTES_READ / NULLIF(COUNT_READ, 0), 0) AS avg_read, COUNT_WRITE AS count_write,
       SUM_NUMBER_OF_BYTES_WRITE AS total_written, IFNULL(SUM_NUMBER_OF_BYTES_WRITE / NULLIF(COUNT_WRITE, 0), 0) AS avg_written
  FROM performance_schema.file_summary_by_event_name
 WHERE EVENT_NAME LIKE 'wait/io/file/%' AND COUNT_STAR > 0
 ORDER BY SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`io_global_by_wait_by_latency` AS
SELECT event_name, total, format_pico_time(total_latency) AS total_latency, format_pico_time(avg_latency) AS avg_latency,
       format_pico_time(max_latency) AS max_latency, format_pico_time(read_latency) AS read_latency,
       format_pico_time(write_latency) AS write_latency, format_pico_time(misc_latency) AS misc_latency, count_read,
       sys.format_bytes(total_read) AS total_read, sys.format_bytes(avg_read) AS avg_read, count_write,
       sys.format_bytes(total_written) AS total_written, sys.format_bytes(avg_written) AS avg_written
  FROM sys.`x$io_global_by_wait_by_latency` w
 ORDER BY w.total_latency DESC;

CREATE VIEW sys.`x$latest_file_io` AS
SELECT IF(t.PROCESSLIST_ID IS NULL, CONCAT(SUBSTRING_INDEX(t.NAME, '/', -1), ':', t.THREAD_ID),
          CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST, ':', t.PROCESSLIST_ID)) AS thread,
       w.OBJECT_NAME AS file, w.TIMER_WAIT AS latency, w.OPERATION AS operation, w.NUMBER_OF_BYTES AS requested
  FROM performance_schema.events_waits_history_long w JOIN performance_schema.threads t ON w.THREAD_ID = t.THREAD_ID
 WHERE w.OBJECT_NAME IS NOT NULL AND w.EVENT_NAME LIKE 'wait/io/file/%'
 ORDER BY w.TIMER_START;

CREATE VIEW sys.`latest_file_io` AS
SELECT IF(t.PROCESSLIST_ID IS NULL, CONCAT(SUBSTRING_INDEX(t.NAME, '/', -1), ':', t.THREAD_ID),
          CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST, ':', t.PROCESSLIST_ID)) AS thread,
       w.OBJECT_NAME AS file, format_pico_time(w.TIMER_WAIT) AS latency, w.OPERATION AS operation,
       sys.format_bytes(w.NUMBER_OF_BYTES) AS requested
  FROM performance_schema.events_waits_history_long w JOIN performance_schema.threads t ON w.THREAD_ID = t.THREAD_ID
 WHERE w.OBJECT_NAME IS NOT NULL AND w.EVENT_NAME LIKE 'wait/io/file/%'
 ORDER BY w.TIMER_START;

CREATE VIEW sys.`x$io_by_thread_by_latency` AS
SELECT IF(t.PROCESSLIST_ID IS NULL, SUBSTRING_INDEX(t.NAME, '/', -1), CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST)) AS user,
       SUM(s.COUNT_STAR) AS total, SUM(s.SUM_TIMER_WAIT) AS total_latency, MIN(s.MIN_TIMER_WAIT) AS min_latency,
       SUM(s.SUM_TIMER_WAIT) DIV SUM(s.COUNT_TIMER_WAIT) AS avg_latency, MAX(s.MAX_TIMER_WAIT) AS max_latency, s.THREAD_ID AS thread_id,
       t.PROCESSLIST_ID AS processlist_id
  FROM performance_schema.events_waits_summary_by_thread_by_event_name s
       LEFT JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 WHERE s.EVENT_NAME LIKE 'wait/io/file/%' AND s.SUM_TIMER_WAIT > 0
 GROUP BY s.THREAD_ID
 ORDER BY SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`io_by_thread_by_latency` AS
SELECT user, total, format_pico_time(total_latency) AS total_latency, format_pico_time(min_latency) AS min_latency,
       format_pico_time(avg_latency) AS avg_latency, format_pico_time(max_latency) AS max_latency, thread_id, processlist_id
  FROM sys.`x$io_by_thread_by_latency` i
 ORDER BY i.total_latency DESC;

CREATE VIEW sys.`x$host_summary_by_file_io_type` AS
SELECT IFNULL(t.PROCESSLIST_HOST, 'background') AS host, s.EVENT_NAME AS event_name, SUM(s.COUNT_STAR) AS total,
       SUM(s.SUM_TIMER_WAIT) AS total_latency, MAX(s.MAX_TIMER_WAIT) AS max_latency
  FROM performance_schema.events_waits_summary_by_thread_by_event_name s JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 WHERE s.EVENT_NAME LIKE 'wait/io/file%' AND s.COUNT_STAR > 0
 GROUP BY IFNULL(t.PROCESSLIST_HOST, 'background'), s.EVENT_NAME
 ORDER BY IFNULL(t.PROCESSLIST_HOST, 'background'), SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`host_summary_by_file_io_type` AS
SELECT host, event_name, total, format_pico_time(total_latency) AS total_latency, format_pico_time(max_latency) AS max_latency
  FROM sys.`x$host_summary_by_file_io_type` h
 ORDER BY h.host, h.total_latency DESC;

CREATE VIEW sys.`x$host_summary_by_file_io` AS
SELECT host, SUM(total) AS ios, SUM(total_latency) AS io_latency
  FROM sys.`x$host_summary_by_file_io_type` h
 GROUP BY host
 ORDER BY SUM(total_latency) DESC;

CREATE VIEW sys.`host_summary_by_file_io` AS
SELECT host, ios, format_pico_time(io_latency) AS io_latency
  FROM sys.`x$host_summary_by_file_io` h
 ORDER BY h.io_latency DESC;

-- Here the column is called latency, there total_latency: so it is in MySQL.
CREATE VIEW sys.`x$user_summary_by_file_io_type` AS
SELECT IFNULL(t.PROCESSLIST_USER, 'background') AS user, s.EVENT_NAME AS event_name, SUM(s.COUNT_STAR) AS total,
       SUM(s.SUM_TIMER_WAIT) AS latency, MAX(s.MAX_TIMER_WAIT) AS max_latency
  FROM performance_schema.events_waits_summary_by_thread_by_event_name s JOIN performance_schema.threads t ON s.THREAD_ID = t.THREAD_ID
 WHERE s.EVENT_NAME LIKE 'wait/io/file%' AND s.COUNT_STAR > 0
 GROUP BY IFNULL(t.PROCESSLIST_USER, 'background'), s.EVENT_NAME
 ORDER BY IFNULL(t.PROCESSLIST_USER, 'background'), SUM(s.SUM_TIMER_WAIT) DESC;

CREATE VIEW sys.`user_summary_by_file_io_type` AS
SELECT user, event_name, total, format_pico_time(latency) AS latency, format_pico_time(max_latency) AS max_latency
  FROM sys.`x$user_summary_by_file_io_type` u
 ORDER BY u.user, u.latency DESC;

CREATE VIEW sys.`x$user_summary_by_file_io` AS
SELECT user, SUM(total) AS ios, SUM(latency) AS io_latency
  FROM sys.`x$user_summary_by_file_io_type` u
 GROUP BY user
 ORDER BY SUM(latency) DESC;

CREATE VIEW sys.`user_summary_by_file_io` AS
SELECT user, ios, format_pico_time(io_latency) AS io_latency
  FROM sys.`x$user_summary_by_file_io` u
 ORDER BY u.io_latency DESC;

-- What was lost because something was full; empty is good.
CREATE VIEW sys.`ps_check_lost_instrumentation` AS
SELECT VARIABLE_NAME AS variable_name, VARIABLE_VALUE AS variable_value
  FROM performance_schema.global_status
 WHERE VARIABLE_NAME LIKE 'perf%lost' AND VARIABLE_VALUE > 0;

-- All numbers of the program in one list. Metrics that say again what is lost are left out, as MySQL's are that say a status again.
CREATE VIEW sys.`metrics` AS
WITH memory AS (
     SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED) AS current, SUM(SUM_NUMBER_OF_BYTES_ALLOC) AS total,
            (SELECT CASE IFNULL(SUM(ENABLED = 'YES'), 0) WHEN 0 THEN 'NO' WHEN COUNT(*) THEN 'YES' ELSE 'PARTIAL' END
               FROM performance_schema.setup_instruments
              WHERE NAME LIKE 'memory/%') AS enabled
       FROM performance_schema.memory_summary_global_by_event_name)
SELECT LOWER(VARIABLE_NAME) AS Variable_name, VARIABLE_VALUE AS Variable_value, 'Global Status' AS Type, 'YES' AS Enabled
  FROM performance_schema.global_status
UNION ALL
SELECT NAME, CONCAT(COUNT), CONCAT('InnoDB Metrics - ', SUBSYSTEM), IF(STATUS = 'enabled', 'YES', 'NO')
  FROM information_schema.innodb_metrics
 WHERE SUBSYSTEM <> 'perfschema'
UNION ALL
SELECT 'memory_current_allocated', CONCAT(current), 'Performance Schema', enabled FROM memory
UNION ALL
SELECT 'memory_total_allocated', CONCAT(total), 'Performance Schema', enabled FROM memory
UNION ALL
SELECT 'NOW()', CONCAT(NOW(3)), 'System Time', 'YES'
UNION ALL
SELECT 'UNIX_TIMESTAMP()', CONCAT(ROUND(UNIX_TIMESTAMP(NOW(3)), 3)), 'System Time', 'YES'
 ORDER BY Type, Variable_name;

-- The views are those of this version of MySQL's sys schema.
CREATE VIEW sys.`version` AS
SELECT '2.1.2' AS sys_version, VERSION() AS mysql_version;

-- ---------------------------------------------------------------------------------------------------------------------------------
-- Memory in use, by instrument, by thread, and in all.
-- ---------------------------------------------------------------------------------------------------------------------------------
CREATE VIEW sys.`memory_global_by_current_bytes` AS
SELECT EVENT_NAME AS event_name, CURRENT_COUNT_USED AS current_count, sys.format_bytes(CURRENT_NUMBER_OF_BYTES_USED) AS current_alloc,
       sys.format_bytes(IFNULL(CURRENT_NUMBER_OF_BYTES_USED / NULLIF(CURRENT_COUNT_USED, 0), 0)) AS current_avg_alloc,
       HIGH_COUNT_USED AS high_count, sys.format_bytes(HIGH_NUMBER_OF_BYTES_USED) AS high_alloc,
       sys.format_bytes(IFNULL(HIGH_NUMBER_OF_BYTES_USED / NULLIF(HIGH_COUNT_USED, 0), 0)) AS high_avg_alloc
  FROM performance_schema.memory_summary_global_by_event_name
 WHERE CURRENT_NUMBER_OF_BYTES_USED > 0
 ORDER BY CURRENT_NUMBER_OF_BYTES_USED DESC;

CREATE VIEW sys.`x$memory_global_by_current_bytes` AS
SELECT EVENT_NAME AS event_name, CURRENT_COUNT_USED AS current_count, CURRENT_NUMBER_OF_BYTES_USED AS current_alloc,
       IFNULL(CURRENT_NUMBER_OF_BYTES_USED / NULLIF(CURRENT_COUNT_USED, 0), 0) AS current_avg_alloc,
       HIGH_COUNT_USED AS high_count, HIGH_NUMBER_OF_BYTES_USED AS high_alloc,
       IFNULL(HIGH_NUMBER_OF_BYTES_USED / NULLIF(HIGH_COUNT_USED, 0), 0) AS high_avg_alloc
  FROM performance_schema.memory_summary_global_by_event_name
 WHERE CURRENT_NUMBER_OF_BYTES_USED > 0
 ORDER BY CURRENT_NUMBER_OF_BYTES_USED DESC;

CREATE VIEW sys.`x$memory_by_thread_by_current_bytes` AS
SELECT m.THREAD_ID AS thread_id,
       MAX(IF(t.PROCESSLIST_USER IS NULL, REPLACE(t.NAME, 'thread/', ''),
              CONCAT(t.PROCESSLIST_USER, '@', IFNULL(t.PROCESSLIST_HOST, '')))) AS user,
       SUM(m.CURRENT_COUNT_USED) AS current_count_used, SUM(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_allocated,
       IFNULL(SUM(m.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(m.CURRENT_COUNT_USED), 0), 0) AS current_avg_alloc,
       MAX(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_max_alloc, SUM(m.SUM_NUMBER_OF_BYTES_ALLOC) AS total_allocated
  FROM performance_schema.memory_summary_by_thread_by_event_name m JOIN performance_schema.threads t ON m.THREAD_ID = t.THREAD_ID
 GROUP BY m.THREAD_ID
 ORDER BY SUM(m.CURRENT_NUMBER_OF_BYTES_USED) DESC;

CREATE VIEW sys.`memory_by_thread_by_current_bytes` AS
SELECT thread_id, user, current_count_used, sys.format_bytes(current_allocated) AS current_allocated,
       sys.format_bytes(current_avg_alloc) AS current_avg_alloc, sys.format_bytes(current_max_alloc) AS current_max_alloc,
       sys.format_bytes(total_allocated) AS total_allocated
  FROM sys.`x$memory_by_thread_by_current_bytes` w
 ORDER BY w.current_allocated DESC;

CREATE VIEW sys.`x$memory_by_user_by_current_bytes` AS
SELECT e.user AS user, SUM(e.current_count_used) AS current_count_used, SUM(e.current_allocated) AS current_allocated,
       IFNULL(SUM(e.current_allocated) / NULLIF(SUM(e.current_count_used), 0), 0) AS current_avg_alloc,
       MAX(e.current_allocated) AS current_max_alloc, SUM(e.total_allocated) AS total_allocated
  FROM (SELECT IFNULL(t.PROCESSLIST_USER, 'background') AS user, SUM(m.CURRENT_COUNT_USED) AS current_count_used,
               SUM(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_allocated, SUM(m.SUM_NUMBER_OF_BYTES_ALLOC) AS total_allocated
          FROM performance_schema.memory_summary_by_thread_by_event_name m
               JOIN performance_schema.threads t ON m.THREAD_ID = t.THREAD_ID
         GROUP BY IFNULL(t.PROCESSLIST_USER, 'background'), m.EVENT_NAME) e
 GROUP BY e.user
 ORDER BY SUM(e.current_allocated) DESC;

CREATE VIEW sys.`memory_by_user_by_current_bytes` AS
SELECT user, current_count_used, sys.format_bytes(current_allocated) AS current_allocated,
       sys.format_bytes(current_avg_alloc) AS current_avg_alloc, sys.format_bytes(current_max_alloc) AS current_max_alloc,
       sys.format_bytes(total_allocated) AS total_allocated
  FROM sys.`x$memory_by_user_by_current_bytes` w
 ORDER BY w.current_allocated DESC;

CREATE VIEW sys.`x$memory_by_host_by_current_bytes` AS
SELECT e.host AS host, SUM(e.current_count_used) AS current_count_used, SUM(e.current_allocated) AS current_allocated,
       IFNULL(SUM(e.current_allocated) / NULLIF(SUM(e.current_count_used), 0), 0) AS current_avg_alloc,
       MAX(e.current_allocated) AS current_max_alloc, SUM(e.total_allocated) AS total_allocated
  FROM (SELECT IFNULL(t.PROCESSLIST_HOST, 'background') AS host, SUM(m.CURRENT_COUNT_USED) AS current_count_used,
               SUM(m.CURRENT_NUMBER_OF_BYTES_USED) AS current_allocated, SUM(m.SUM_NUMBER_OF_BYTES_ALLOC) AS total_allocated
          FROM performance_schema.memory_summary_by_thread_by_event_name m
               JOIN performance_schema.threads t ON m.THREAD_ID = t.THREAD_ID
         GROUP BY IFNULL(t.PROCESSLIST_HOST, 'background'), m.EVENT_NAME) e
 GROUP BY e.host
 ORDER BY SUM(e.current_allocated) DESC;

CREATE VIEW sys.`memory_by_host_by_current_bytes` AS
SELECT host, current_count_used, sys.format_bytes(current_allocated) AS current_allocated,
       sys.format_bytes(current_avg_alloc) AS current_avg_alloc, sys.format_bytes(current_max_alloc) AS current_max_alloc,
       sys.format_bytes(total_allocated) AS total_allocated
  FROM sys.`x$memory_by_host_by_current_bytes` w
 ORDER BY w.current_allocated DESC;

CREATE VIEW sys.`x$memory_global_total` AS
SELECT SUM(CURRENT_NUMBER_OF_BYTES_USED) AS total_allocated FROM performance_schema.memory_summary_global_by_event_name;

CREATE VIEW sys.`memory_global_total` AS
SELECT sys.format_bytes(SUM(CURRENT_NUMBER_OF_BYTES_USED)) AS total_allocated
  FROM performance_schema.memory_summary_global_by_event_name;

-- All of that by user and by host. Who was connected earlier is not known, so how many there were is NULL.

CREATE VIEW sys.`x$user_summary` AS
SELECT a.user AS user, IFNULL(s.total, 0) AS statements, IFNULL(s.total_latency, 0) AS statement_latency,
       IFNULL(s.total_latency DIV NULLIF(n.timed, 0), 0) AS statement_avg_latency, IFNULL(s.full_scans, 0) AS table_scans,
       IFNULL(io.ios, 0) AS file_ios, IFNULL(io.io_latency, 0) AS file_io_latency, a.current_connections AS current_connections,
       NULL AS total_connections, a.unique_hosts AS unique_hosts, IFNULL(m.current_allocated, 0) AS current_memory,
       IFNULL(m.total_allocated, 0) AS total_memory_allocated
  FROM (SELECT IFNULL(t.PROCESSLIST_USER, 'background') AS user, COUNT(t.PROCESSLIST_ID) AS current_connections,
               COUNT(DISTINCT t.PROCESSLIST_HOST) AS unique_hosts
          FROM performance_schema.threads t
         GROUP BY IFNULL(t.PROCESSLIST_USER, 'background')) a
       LEFT JOIN sys.`x$user_summary_by_statement_latency` s ON s.user = a.user
       LEFT JOIN (SELECT IFNULL(t.PROCESSLIST_USER, 'background') AS user, SUM(e.COUNT_TIMER_WAIT) AS timed
                    FROM performance_schema.events_statements_summary_by_thread_by_event_name e
                         JOIN performance_schema.threads t ON e.THREAD_ID = t.THREAD_ID
                   GROUP BY IFNULL(t.PROCESSLIST_USER, 'background')) n ON n.user = a.user
       LEFT JOIN sys.`x$user_summary_by_file_io` io ON io.user = a.user
       LEFT JOIN sys.`x$memory_by_user_by_current_bytes` m ON m.user = a.user
 ORDER BY statement_latency DESC;

CREATE VIEW sys.`user_summary` AS
SELECT user, statements, format_pico_time(statement_latency) AS statement_latency,
       format_pico_time(statement_avg_latency) AS statement_avg_latency, table_scans, file_ios,
       format_pico_time(file_io_latency) AS file_io_latency, current_connections, total_connections, unique_hosts,
       sys.format_bytes(current_memory) AS current_memory, sys.format_bytes(total_memory_allocated) AS total_memory_allocated
  FROM sys.`x$user_summary` u
 ORDER BY u.statement_latency DESC;

CREATE VIEW sys.`x$host_summary` AS
SELECT a.host AS host, IFNULL(s.total, 0) AS statements, IFNULL(s.total_latency, 0) AS statement_latency,
       IFNULL(s.total_latency DIV NULLIF(n.timed, 0), 0) AS statement_avg_latency, IFNULL(s.full_scans, 0) AS table_scans,
       IFNULL(io.ios, 0) AS file_ios, IFNULL(io.io_latency, 0) AS file_io_latency, a.current_connections AS current_connections,
       NULL AS total_connections, a.unique_users AS unique_users, IFNULL(m.current_allocated, 0) AS current_memory,
       IFNULL(m.total_allocated, 0) AS total_memory_allocated
  FROM (SELECT IFNULL(t.PROCESSLIST_HOST, 'background') AS host, COUNT(t.PROCESSLIST_ID) AS current_connections,
               COUNT(DISTINCT t.PROCESSLIST_USER) AS unique_users
          FROM performance_schema.threads t
         GROUP BY IFNULL(t.PROCESSLIST_HOST, 'background')) a
       LEFT JOIN sys.`x$host_summary_by_statement_latency` s ON s.host = a.host
       LEFT JOIN (SELECT IFNULL(t.PROCESSLIST_HOST, 'background') AS host, SUM(e.COUNT_TIMER_WAIT) AS timed
                    FROM performance_schema.events_statements_summary_by_thread_by_event_name e
                         JOIN performance_schema.threads t ON e.THREAD_ID = t.THREAD_ID
                   GROUP BY IFNULL(t.PROCESSLIST_HOST, 'background')) n ON n.host = a.host
       LEFT JOIN sys.`x$host_summary_by_file_io` io ON io.host = a.host
       LEFT JOIN sys.`x$memory_by_host_by_current_bytes` m ON m.host = a.host
 ORDER BY statement_latency DESC;

CREATE VIEW sys.`host_summary` AS
SELECT host, statements, format_pico_time(statement_latency) AS statement_latency,
       format_pico_time(statement_avg_latency) AS statement_avg_latency, table_scans, file_ios,
       format_pico_time(file_io_latency) AS file_io_latency, current_connections, total_connections, unique_users,
       sys.format_bytes(current_memory) AS current_memory, sys.format_bytes(total_memory_allocated) AS total_memory_allocated
  FROM sys.`x$host_summary` u
 ORDER BY u.statement_latency DESC;

-- Statements that are alike: which take long, fail, look through whole tables, sort, or make temporary tables.

CREATE VIEW sys.`statement_analysis` AS
SELECT sys.format_statement(DIGEST_TEXT) AS query,
       SCHEMA_NAME AS db,
       IF(SUM_NO_GOOD_INDEX_USED > 0 OR SUM_NO_INDEX_USED > 0, '*', '') AS full_scan,
       COUNT_STAR AS exec_count,
       SUM_ERRORS AS err_count,
       SUM_WARNINGS AS warn_count,
       format_pico_time(SUM_TIMER_WAIT) AS total_latency,
       format_pico_time(MAX_TIMER_WAIT) AS max_latency,
       format_pico_time(AVG_TIMER_WAIT) AS avg_latency,
       format_pico_time(SUM_LOCK_TIME) AS lock_latency,
       SUM_ROWS_SENT AS rows_sent,
       ROUND(IFNULL(SUM_ROWS_SENT / NULLIF(COUNT_STAR, 0), 0)) AS rows_sent_avg,
       SUM_ROWS_EXAMINED AS rows_examined,
       ROUND(IFNULL(SUM_ROWS_EXAMINED / NULLIF(COUNT_STAR, 0), 0)) AS rows_examined_avg,
       SUM_ROWS_AFFECTED AS rows_affected,
       ROUND(IFNULL(SUM_ROWS_AFFECTED / NULLIF(COUNT_STAR, 0), 0)) AS rows_affected_avg,
       SUM_CREATED_TMP_TABLES AS tmp_tables,
       SUM_CREATED_TMP_DISK_TABLES AS tmp_disk_tables,
       SUM_SORT_ROWS AS rows_sorted,
       SUM_SORT_MERGE_PASSES AS sort_merge_passes,
       DIGEST AS digest,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen
  FROM performance_schema.events_statements_summary_by_digest d
 ORDER BY SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`x$statement_analysis` AS
SELECT DIGEST_TEXT AS query,
       SCHEMA_NAME AS db,
       IF(SUM_NO_GOOD_INDEX_USED > 0 OR SUM_NO_INDEX_USED > 0, '*', '') AS full_scan,
       COUNT_STAR AS exec_count,
       SUM_ERRORS AS err_count,
       SUM_WARNINGS AS warn_count,
       SUM_TIMER_WAIT AS total_latency,
       MAX_TIMER_WAIT AS max_latency,
       AVG_TIMER_WAIT AS avg_latency,
       SUM_LOCK_TIME AS lock_latency,
       SUM_ROWS_SENT AS rows_sent,
       ROUND(IFNULL(SUM_ROWS_SENT / NULLIF(COUNT_STAR, 0), 0)) AS rows_sent_avg,
       SUM_ROWS_EXAMINED AS rows_examined,
       ROUND(IFNULL(SUM_ROWS_EXAMINED / NULLIF(COUNT_STAR, 0), 0)) AS rows_examined_avg,
       SUM_ROWS_AFFECTED AS rows_affected,
       ROUND(IFNULL(SUM_ROWS_AFFECTED / NULLIF(COUNT_STAR, 0), 0)) AS rows_affected_avg,
       SUM_CREATED_TMP_TABLES AS tmp_tables,
       SUM_CREATED_TMP_DISK_TABLES AS tmp_disk_tables,
       SUM_SORT_ROWS AS rows_sorted,
       SUM_SORT_MERGE_PASSES AS sort_merge_passes,
       DIGEST AS digest,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen
  FROM performance_schema.events_statements_summary_by_digest d
 ORDER BY SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`statements_with_errors_or_warnings` AS
SELECT sys.format_statement(DIGEST_TEXT) AS query,
       SCHEMA_NAME AS db,
       COUNT_STAR AS exec_count,
       SUM_ERRORS AS errors,
       IFNULL(SUM_ERRORS / NULLIF(COUNT_STAR, 0), 0) * 100 AS error_pct,
       SUM_WARNINGS AS warnings,
       IFNULL(SUM_WARNINGS / NULLIF(COUNT_STAR, 0), 0) * 100 AS warning_pct,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
 WHERE SUM_ERRORS > 0 OR SUM_WARNINGS > 0
 ORDER BY SUM_ERRORS DESC, SUM_WARNINGS DESC;

CREATE VIEW sys.`x$statements_with_errors_or_warnings` AS
SELECT DIGEST_TEXT AS query,
       SCHEMA_NAME AS db,
       COUNT_STAR AS exec_count,
       SUM_ERRORS AS errors,
       IFNULL(SUM_ERRORS / NULLIF(COUNT_STAR, 0), 0) * 100 AS error_pct,
       SUM_WARNINGS AS warnings,
       IFNULL(SUM_WARNINGS / NULLIF(COUNT_STAR, 0), 0) * 100 AS warning_pct,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
 WHERE SUM_ERRORS > 0 OR SUM_WARNINGS > 0
 ORDER BY SUM_ERRORS DESC, SUM_WARNINGS DESC;

CREATE VIEW sys.`statements_with_full_table_scans` AS
SELECT sys.format_statement(DIGEST_TEXT) AS query,
       SCHEMA_NAME AS db,
       COUNT_STAR AS exec_count,
       format_pico_time(SUM_TIMER_WAIT) AS total_latency,
       SUM_NO_INDEX_USED AS no_index_used_count,
       SUM_NO_GOOD_INDEX_USED AS no_good_index_used_count,
       ROUND(IFNULL(SUM_NO_INDEX_USED / NULLIF(COUNT_STAR, 0), 0) * 100) AS no_index_used_pct,
       SUM_ROWS_SENT AS rows_sent,
       SUM_ROWS_EXAMINED AS rows_examined,
       ROUND(SUM_ROWS_SENT / COUNT_STAR) AS rows_sent_avg,
       ROUND(SUM_ROWS_EXAMINED / COUNT_STAR) AS rows_examined_avg,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
 WHERE (SUM_NO_INDEX_USED > 0 OR SUM_NO_GOOD_INDEX_USED > 0) AND DIGEST_TEXT NOT LIKE 'SHOW%'
 ORDER BY ROUND(IFNULL(SUM_NO_INDEX_USED / NULLIF(COUNT_STAR, 0), 0) * 100) DESC, SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`x$statements_with_full_table_scans` AS
SELECT DIGEST_TEXT AS query,
       SCHEMA_NAME AS db,
       COUNT_STAR AS exec_count,
       SUM_TIMER_WAIT AS total_latency,
       SUM_NO_INDEX_USED AS no_index_used_count,
       SUM_NO_GOOD_INDEX_USED AS no_good_index_used_count,
       ROUND(IFNULL(SUM_NO_INDEX_USED / NULLIF(COUNT_STAR, 0), 0) * 100) AS no_index_used_pct,
       SUM_ROWS_SENT AS rows_sent,
       SUM_ROWS_EXAMINED AS rows_examined,
       ROUND(SUM_ROWS_SENT / COUNT_STAR) AS rows_sent_avg,
       ROUND(SUM_ROWS_EXAMINED / COUNT_STAR) AS rows_examined_avg,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
 WHERE (SUM_NO_INDEX_USED > 0 OR SUM_NO_GOOD_INDEX_USED > 0) AND DIGEST_TEXT NOT LIKE 'SHOW%'
 ORDER BY ROUND(IFNULL(SUM_NO_INDEX_USED / NULLIF(COUNT_STAR, 0), 0) * 100) DESC, SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`statements_with_sorting` AS
SELECT sys.format_statement(DIGEST_TEXT) AS query,
       SCHEMA_NAME AS db,
       COUNT_STAR AS exec_count,
       format_pico_time(SUM_TIMER_WAIT) AS total_latency,
       SUM_SORT_MERGE_PASSES AS sort_merge_passes,
       ROUND(IFNULL(SUM_SORT_MERGE_PASSES / NULLIF(COUNT_STAR, 0), 0)) AS avg_sort_merges,
       SUM_SORT_SCAN AS sorts_using_scans,
       SUM_SORT_RANGE AS sort_using_range,
       SUM_SORT_ROWS AS rows_sorted,
       ROUND(IFNULL(SUM_SORT_ROWS / NULLIF(COUNT_STAR, 0), 0)) AS avg_rows_sorted,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
 WHERE SUM_SORT_ROWS > 0
 ORDER BY SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`x$statements_with_sorting` AS
SELECT DIGEST_TEXT AS query,
       SCHEMA_NAME AS db,
       COUNT_STAR AS exec_count,
       SUM_TIMER_WAIT AS total_latency,
       SUM_SORT_MERGE_PASSES AS sort_merge_passes,
       ROUND(IFNULL(SUM_SORT_MERGE_PASSES / NULLIF(COUNT_STAR, 0), 0)) AS avg_sort_merges,
       SUM_SORT_SCAN AS sorts_using_scans,
       SUM_SORT_RANGE AS sort_using_range,
       SUM_SORT_ROWS AS rows_sorted,
       ROUND(IFNULL(SUM_SORT_ROWS / NULLIF(COUNT_STAR, 0), 0)) AS avg_rows_sorted,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
 WHERE SUM_SORT_ROWS > 0
 ORDER BY SUM_TIMER_WAIT DESC;

CREATE VIEW sys.`statements_with_temp_tables` AS
SELECT sys.format_statement(DIGEST_TEXT) AS query,
       SCHEMA_NAME AS db,
       COUNT_STAR AS exec_count,
       format_pico_time(SUM_TIMER_WAIT) AS total_latency,
       SUM_CREATED_TMP_TABLES AS memory_tmp_tables,
       SUM_CREATED_TMP_DISK_TABLES AS disk_tmp_tables,
       ROUND(IFNULL(SUM_CREATED_TMP_TABLES / NULLIF(COUNT_STAR, 0), 0)) AS avg_tmp_tables_per_query,
       ROUND(IFNULL(SUM_CREATED_TMP_DISK_TABLES / NULLIF(SUM_CREATED_TMP_TABLES, 0), 0) * 100) AS tmp_tables_to_disk_pct,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
 WHERE SUM_CREATED_TMP_TABLES > 0
 ORDER BY SUM_CREATED_TMP_DISK_TABLES DESC, SUM_CREATED_TMP_TABLES DESC;

CREATE VIEW sys.`x$statements_with_temp_tables` AS
SELECT DIGEST_TEXT AS query,
       SCHEMA_NAME AS db,
       COUNT_STAR AS exec_count,
       SUM_TIMER_WAIT AS total_latency,
       SUM_CREATED_TMP_TABLES AS memory_tmp_tables,
       SUM_CREATED_TMP_DISK_TABLES AS disk_tmp_tables,
       ROUND(IFNULL(SUM_CREATED_TMP_TABLES / NULLIF(COUNT_STAR, 0), 0)) AS avg_tmp_tables_per_query,
       ROUND(IFNULL(SUM_CREATED_TMP_DISK_TABLES / NULLIF(SUM_CREATED_TMP_TABLES, 0), 0) * 100) AS tmp_tables_to_disk_pct,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
 WHERE SUM_CREATED_TMP_TABLES > 0
 ORDER BY SUM_CREATED_TMP_DISK_TABLES DESC, SUM_CREATED_TMP_TABLES DESC;

CREATE VIEW sys.`x$ps_digest_avg_latency_distribution` AS
SELECT COUNT(*) AS cnt, ROUND(d.AVG_TIMER_WAIT / 1000000) AS avg_us
  FROM performance_schema.events_statements_summary_by_digest d
 GROUP BY ROUND(d.AVG_TIMER_WAIT / 1000000);

-- MySQL's view compares each average with each other one; this one adds them up in their order.
CREATE VIEW sys.`x$ps_digest_95th_percentile_by_avg_us` AS
SELECT s.avg_us AS avg_us, s.percentile AS percentile
  FROM (SELECT avg_us, IFNULL(SUM(cnt) OVER (ORDER BY avg_us)
                              / NULLIF((SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest c), 0), 0) AS percentile
          FROM sys.`x$ps_digest_avg_latency_distribution` d) s
 WHERE s.percentile > 0.95
 ORDER BY s.percentile
 LIMIT 1;

CREATE VIEW sys.`statements_with_runtimes_in_95th_percentile` AS
SELECT sys.format_statement(DIGEST_TEXT) AS query,
       SCHEMA_NAME AS db,
       IF(SUM_NO_GOOD_INDEX_USED > 0 OR SUM_NO_INDEX_USED > 0, '*', '') AS full_scan,
       COUNT_STAR AS exec_count,
       SUM_ERRORS AS err_count,
       SUM_WARNINGS AS warn_count,
       format_pico_time(SUM_TIMER_WAIT) AS total_latency,
       format_pico_time(MAX_TIMER_WAIT) AS max_latency,
       format_pico_time(AVG_TIMER_WAIT) AS avg_latency,
       SUM_ROWS_SENT AS rows_sent,
       ROUND(IFNULL(SUM_ROWS_SENT / NULLIF(COUNT_STAR, 0), 0)) AS rows_sent_avg,
       SUM_ROWS_EXAMINED AS rows_examined,
       ROUND(IFNULL(SUM_ROWS_EXAMINED / NULLIF(COUNT_STAR, 0), 0)) AS rows_examined_avg,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
       JOIN sys.`x$ps_digest_95th_percentile_by_avg_us` p ON ROUND(d.AVG_TIMER_WAIT / 1000000) >= p.avg_us
 ORDER BY AVG_TIMER_WAIT DESC;

CREATE VIEW sys.`x$statements_with_runtimes_in_95th_percentile` AS
SELECT DIGEST_TEXT AS query,
       SCHEMA_NAME AS db,
       IF(SUM_NO_GOOD_INDEX_USED > 0 OR SUM_NO_INDEX_USED > 0, '*', '') AS full_scan,
       COUNT_STAR AS exec_count,
       SUM_ERRORS AS err_count,
       SUM_WARNINGS AS warn_count,
       SUM_TIMER_WAIT AS total_latency,
       MAX_TIMER_WAIT AS max_latency,
       AVG_TIMER_WAIT AS avg_latency,
       SUM_ROWS_SENT AS rows_sent,
       ROUND(IFNULL(SUM_ROWS_SENT / NULLIF(COUNT_STAR, 0), 0)) AS rows_sent_avg,
       SUM_ROWS_EXAMINED AS rows_examined,
       ROUND(IFNULL(SUM_ROWS_EXAMINED / NULLIF(COUNT_STAR, 0), 0)) AS rows_examined_avg,
       FIRST_SEEN AS first_seen,
       LAST_SEEN AS last_seen,
       DIGEST AS digest
  FROM performance_schema.events_statements_summary_by_digest d
       JOIN sys.`x$ps_digest_95th_percentile_by_avg_us` p ON ROUND(d.AVG_TIMER_WAIT / 1000000) >= p.avg_us
 ORDER BY AVG_TIMER_WAIT DESC;
