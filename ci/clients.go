// What Go's driver gets from `perfschema serve`. Started by ci/clients with the port, and with a certificate if it is to encrypt.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
)

var options = "?multiStatements=true&collation=utf8mb4_unicode_ci"

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(expected, found interface{}) {
	if expected != found {
		panic(fmt.Sprintf("expected %v, found %v", expected, found))
	}
}

func open(account string) *sql.DB {
	db, err := sql.Open("mysql", account+"@tcp(localhost:"+os.Args[1]+")/performance_schema"+options)
	check(err)
	return db
}

func fails(number uint16, err error) {
	var found *mysql.MySQLError
	if !errors.As(err, &found) || found.Number != number {
		panic(fmt.Sprintf("expected error %d, found %v", number, err))
	}
}

func main() {
	if len(os.Args) > 2 {
		certificate, err := os.ReadFile(os.Args[2])
		check(err)
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(certificate)
		check(mysql.RegisterTLSConfig("own", &tls.Config{RootCAs: roots}))
		options += "&tls=own"
	}
	reader, controller := open("reader:looks"), open("controller:changes")
	for _, user := range []string{"reader:looks", "controller:changes", "old:native"} {
		check(open(user).Ping())
	}
	fails(1045, open("reader:wrong").Ping())

	// Types, and parameters of a prepared statement.
	rows, err := reader.Query("SELECT thread_id, name, processlist_id FROM threads WHERE thread_id > ? AND name LIKE ? AND ? IS NULL LIMIT ?",
		0, "thread/%", nil, 2)
	check(err)
	types, err := rows.ColumnTypes()
	check(err)
	for index, expected := range []string{"BIGINT uint64", "VARCHAR sql.RawBytes", "BIGINT sql.NullInt64"} {
		expect(expected, fmt.Sprint(types[index].DatabaseTypeName(), " ", types[index].ScanType()))
	}
	count := 0
	for ; rows.Next(); count++ {
		var id uint64
		var name string
		var process sql.NullInt64
		check(rows.Scan(&id, &name, &process))
	}
	check(rows.Err())
	expect(2, count)
	var big uint64
	check(reader.QueryRow("SELECT ?", uint64(1<<64-1)).Scan(&big))
	expect(uint64(1<<64-1), big)

	// Exact numbers, of digits that are known.
	for _, parameters := range [][]interface{}{{}, {1}} {
		statement := "SELECT 1 / 3, SUM(18446744073709551615)"
		if len(parameters) > 0 {
			statement += ", ?"
		}
		rows, err = reader.Query(statement, parameters...)
		check(err)
		types, err = rows.ColumnTypes()
		check(err)
		_, scale, known := types[0].DecimalSize()
		expect("DECIMAL 4 true", fmt.Sprint(types[0].DatabaseTypeName(), " ", scale, " ", known))
		var third, sum, more string
		expect(true, rows.Next())
		check(rows.Scan(append([]interface{}{&third, &sum}, []interface{}{&more}[:len(parameters)]...)...))
		check(rows.Close())
		expect("0.3333 18446744073709551615", third+" "+sum)
	}

	// Moments, as text and as prepared statements have them.
	timed, err := sql.Open("mysql", "reader:looks@tcp(localhost:"+os.Args[1]+")/performance_schema"+options+"&parseTime=true")
	check(err)
	moment := time.Date(2026, 11, 24, 12, 30, 0, 250000000, time.UTC)
	for _, parameters := range [][]interface{}{{}, {moment}} {
		statement := "SELECT TIMESTAMP'2026-11-24 12:30:00.25', LAST_DAY('2026-11-24'), MAX(last_seen) FROM events_statements_summary_by_digest"
		if len(parameters) > 0 {
			statement += " WHERE ? = TIMESTAMP'2026-11-24 12:30:00.25'"
		}
		rows, err = timed.Query(statement, parameters...)
		check(err)
		types, err = rows.ColumnTypes()
		check(err)
		for index, expected := range []string{"DATETIME", "DATE", "TIMESTAMP"} {
			expect(expected, types[index].DatabaseTypeName())
		}
		var given, day, seen time.Time
		expect(true, rows.Next())
		check(rows.Scan(&given, &day, &seen))
		check(rows.Close())
		expect(moment, given)
		expect(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), day)
		expect(true, seen.Year() >= 2026)
	}

	// Several results, and errors.
	rows, err = reader.Query("SELECT 1; SELECT 2; SELECT 3")
	check(err)
	for count = 1; rows.NextResultSet(); count++ {
	}
	check(rows.Err())
	expect(3, count)
	_, err = reader.Query("SELECT * FROM nothing")
	fails(1146, err)
	_, err = reader.Exec("UPDATE setup_timers SET timer_name = ?", "CYCLE")
	fails(1142, err)

	// What a controller changes, in transactions of all kinds.
	for _, kind := range []*sql.TxOptions{nil, {Isolation: sql.LevelReadCommitted}, {ReadOnly: true}} {
		transaction, err := controller.BeginTx(context.Background(), kind)
		check(err)
		_, err = transaction.Exec("UPDATE setup_timers SET timer_name = ? WHERE name = ?", "CYCLE", "wait")
		check(err)
		check(transaction.Commit())
	}

	// A statement that is given up.
	limited, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = reader.ExecContext(limited, "SELECT SLEEP(5)")
	expect(context.DeadlineExceeded, err)
	check(reader.Ping())
	fmt.Println("go-sql-driver/mysql")
}
