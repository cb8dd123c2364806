//! One client from its greeting to its end.

use super::authentication::{Nonce, Plugin, Proof, nonce};
use super::command::{self, Command, ParameterType};
use super::handshake::{self, Login, capability};
use super::packet::{Malformed, PacketError, Packets, Stream, Traffic};
use super::prepared::{Cursor, Statements};
use super::response::{self, Column, Done, status};
use crate::clients::{Place, error};
use crate::tls::{Securable, Tls};
use crate::{Accounts, Limits, Shared};
use perfschema::core::table::SqlType;
use perfschema::render::{Grid, OwnedValue};
use perfschema_sql::{Account, Counter, Error, Origin, Outcome, Session, fits, split};
use std::io;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// The longest packet of somebody who has not logged in.
const LOGIN_PACKET: usize = 64 * 1024;

/// Why a connection ends. What the client should know was sent.
#[derive(Debug)]
pub(crate) enum End {
    /// The client has said that it leaves.
    Left,
    /// It was refused, or sent away.
    Over,
    /// The client is gone, or too slow.
    Gone,
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> End {
        End::Gone
    }
}

/// Greets a client, and does what it wants until it ends.
///
/// `is_private`: nobody else can read what the stream carries, though it is not encrypted.
pub(crate) fn serve<S: Stream>(shared: &Shared, stream: S, host: &str, is_private: bool, place: &Place) -> Result<(), End> {
    let packets = Packets::new(Securable::Plain(stream), LOGIN_PACKET.min(shared.limits.packet_bytes));
    let traffic = packets.traffic();
    let result = match log_in(shared, packets, host, is_private, place) {
        Ok(mut connection) => {
            let result = connection.until_the_end();
            if matches!(result, Err(End::Over | End::Gone)) {
                shared.database.count(Counter::AbortedClients, 1);
            }
            result
        }
        Err(end) => {
            shared.database.count(Counter::AbortedConnects, 1);
            Err(end)
        }
    };
    count_traffic(&traffic, |counter, bytes| shared.database.count(counter, bytes));
    result
}

fn count_traffic(traffic: &Traffic, count: impl Fn(Counter, u64)) {
    for (counter, bytes) in [(Counter::BytesReceived, &traffic.received), (Counter::BytesSent, &traffic.sent)] {
        count(counter, bytes.take());
    }
}

/// Greets a client and finds out who it is.
fn log_in<'a, S: Stream>(
    shared: &'a Shared,
    mut packets: Packets<Securable<S>>,
    host: &str,
    is_private: bool,
    place: &'a Place,
) -> Result<Connection<'a, S>, End> {
    let tls = shared.tls.as_ref();
    packets.stream().set_deadline(deadline(shared.limits.login_time));
    let nonce = nonce()?;
    packets.write(&handshake::greeting(&shared.version, place.id(), &nonce, status::AUTOCOMMIT, tls.is_some()))?;
    packets.flush()?;
    let mut packet = read(&mut packets)?;
    if let Some(tls) = tls.filter(|_| handshake::wants_tls(&packet)) {
        packets = packets.over(|stream| stream.encrypt(tls))?;
        packet = read(&mut packets)?;
    }
    let Ok(login) = Login::parse(&packet) else {
        return refuse(&mut packets, &bad_handshake());
    };
    if tls.is_some_and(Tls::is_required) && !is_private && !packets.stream().is_encrypted() {
        let message = "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
        return refuse(&mut packets, &error(3159, "HY000", message));
    }
    let account = authenticate(&mut packets, &shared.accounts, &login, Some(&nonce), host)?;
    let mut connection = Connection::new(shared, packets, account, login.capabilities, place)?;
    connection.enter(login.schema)?;
    connection.packets.set_limit(shared.limits.packet_bytes);
    if connection.compresses() {
        connection.packets.compress();
    }
    Ok(connection)
}

/// Tells a client that there is no room for it.
pub(crate) fn turn_away<S: Stream>(shared: &Shared, stream: S) -> Result<(), End> {
    let mut packets = Packets::new(stream, 0);
    refuse(&mut packets, &too_many(shared))
}

fn too_many(shared: &Shared) -> Error {
    shared.database.count(Counter::ConnectionErrorsMaxConnections, 1);
    error(1040, "08004", "Too many connections")
}

fn bad_handshake() -> Error {
    error(1043, "08S01", "Bad handshake")
}

fn deadline(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// Sends an error, with which the connection ends.
fn refuse<S: Stream, T>(packets: &mut Packets<S>, error: &Error) -> Result<T, End> {
    packets.write(&response::error(error))?;
    packets.flush()?;
    Err(End::Over)
}

/// Reads a packet; what is wrong with its frame ends the connection.
fn read<S: Stream>(packets: &mut Packets<S>) -> Result<Vec<u8>, End> {
    packets.read().map_err(|found| frame_error(packets, found))
}

fn frame_error<S: Stream>(packets: &mut Packets<S>, found: PacketError) -> End {
    let error = match found {
        PacketError::Gone => return End::Gone,
        PacketError::TooLarge => error(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes"),
        PacketError::OutOfOrder => error(1156, "08S01", "Got packets out of order"),
        PacketError::Undecodable => error(1157, "08S01", "Couldn't uncompress communication packet"),
    };
    refuse::<S, ()>(packets, &error).err().unwrap_or(End::Over)
}

/// Finds out whether the client is who it says.
///
/// `first_nonce`: what the answer in `login` was made with; None if that is not known.
fn authenticate<S: Stream>(
    packets: &mut Packets<Securable<S>>,
    accounts: &Accounts,
    login: &Login<'_>,
    first_nonce: Option<&Nonce>,
    host: &str,
) -> Result<Account, End> {
    let user = String::from_utf8_lossy(login.user).into_owned();
    let can_be_asked = login.capabilities & capability::PLUGIN_AUTH != 0;
    let measure = accounts.measure(&user);
    let (plugin, nonce, answer) = match (login.plugin, first_nonce) {
        // Some clients give no answer yet if the plugin is not the one in the greeting: they wait to be asked, if they can be.
        (Some(plugin), Some(nonce))
            if measure.stored.accepts(plugin) && (plugin == Plugin::CachingSha2 || !login.answer.is_empty() || !can_be_asked) =>
        {
            (plugin, *nonce, login.answer.to_vec())
        }
        _ if !can_be_asked => {
            let old = "Client does not support authentication protocol requested by server; consider upgrading MySQL client";
            return refuse(packets, &error(1251, "08004", old));
        }
        _ => {
            let (plugin, nonce) = (measure.plugin(), nonce()?);
            packets.write(&handshake::switch_request(plugin, &nonce))?;
            packets.flush()?;
            (plugin, nonce, read(packets)?)
        }
    };
    let proof = measure.stored.proof(plugin, &nonce, &answer);
    let mut is_proven = proof.is_some();
    let has_answered = !matches!(answer.as_slice(), [] | [0]);
    let was_full = !is_proven && has_answered && plugin == Plugin::CachingSha2 && packets.stream().is_encrypted();
    if was_full {
        // As MySQL does where the answer is not enough for it. Nobody but the client that knows the certificate can ask for it.
        packets.write(&handshake::PERFORM_FULL_AUTHENTICATION)?;
        packets.flush()?;
        // What is a password has room from the start, so that no copy is left behind.
        let mut password = Zeroizing::new(Vec::with_capacity(LOGIN_PACKET + 1));
        packets.start()?;
        packets.finish(&mut password).map_err(|found| frame_error(packets, found))?;
        is_proven = password.split_last().is_some_and(|(end, password)| *end == 0 && measure.stored.is_password(password));
    }
    let Some(right) = measure.right.filter(|_| is_proven) else {
        let using = if has_answered { "YES" } else { "NO" };
        let message = format!("Access denied for user '{user}'@'{host}' (using password: {using})");
        return refuse(packets, &error(1045, "28000", message));
    };
    if proof == Some(Proof::CachingSha2) {
        packets.write(&handshake::FAST_AUTHENTICATION_HAS_SUCCEEDED)?;
    }
    Ok(Account { user, host: host.to_owned(), right })
}

/// How rows are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Binary,
}

/// A client that has logged in.
#[derive(Debug)]
struct Connection<'a, S: Stream> {
    shared: &'a Shared,
    place: &'a Place,
    packets: Packets<Securable<S>>,
    session: Session,
    capabilities: u32,
    statements: Statements,
    /// Where the columns of the last statement's rows come from.
    origins: Vec<Option<Origin>>,
}

impl<'a, S: Stream> Connection<'a, S> {
    fn new(
        shared: &'a Shared,
        mut packets: Packets<Securable<S>>,
        account: Account,
        capabilities: u32,
        place: &'a Place,
    ) -> Result<Self, End> {
        let session = match open(shared, account, place, packets.stream(), capabilities) {
            Ok(session) => session,
            Err(error) => return refuse(&mut packets, &error),
        };
        Ok(Connection { shared, place, packets, session, capabilities, statements: Statements::default(), origins: Vec::new() })
    }

    fn limits(&self) -> &'a Limits {
        &self.shared.limits
    }

    /// What is read from now on must be there in time.
    fn within(&mut self, time: Duration) {
        self.packets.stream().set_deadline(deadline(time));
    }

    /// Makes the schema of a login the current one, and lets the client in.
    fn enter(&mut self, schema: &[u8]) -> Result<(), End> {
        if !schema.is_empty()
            && let Err(error) = self.session.use_schema(&String::from_utf8_lossy(schema))
        {
            return refuse(&mut self.packets, &error);
        }
        self.ok()
    }

    fn until_the_end(&mut self) -> Result<(), End> {
        loop {
            self.next()?;
        }
    }

    /// Waits for a command and does it.
    fn next(&mut self) -> Result<(), End> {
        self.place.doing("Sleep", self.session.schema());
        if self.place.is_killed() {
            return Err(End::Over);
        }
        self.packets.begin();
        self.within(self.time(self.limits().idle_time, "wait_timeout"));
        match self.packets.start() {
            Err(found) if found.kind() == io::ErrorKind::TimedOut => {
                let message = "The client was disconnected by the server because of inactivity. See wait_timeout and \
                               interactive_timeout for configuring this behavior.";
                return refuse(&mut self.packets, &error(4031, "HY000", message));
            }
            started => started?,
        }
        self.within(self.time(self.limits().read_time, "net_read_timeout"));
        let mut packet = Vec::new();
        self.packets.finish(&mut packet).map_err(|found| frame_error(&mut self.packets, found))?;
        count_traffic(&self.packets.traffic(), |counter, bytes| self.session.count(counter, bytes));
        match Command::parse(&packet) {
            Ok(command) => {
                self.count(command.counters());
                self.place.doing(command.name(), self.session.schema());
                self.run(command)
            }
            Err(Malformed) => self.error(&malformed()),
        }
    }

    fn count(&self, counters: &[Counter]) {
        counters.iter().for_each(|counter| self.session.count(*counter, 1));
    }

    /// What the server allows, or less, if the client has asked for less.
    fn time(&self, limit: Duration, variable: &str) -> Duration {
        let own = match self.session.variable(variable) {
            Some(OwnedValue::Signed(seconds)) => u64::try_from(seconds).ok().filter(|&seconds| seconds > 0),
            _ => None,
        };
        own.map_or(limit, |seconds| limit.min(Duration::from_secs(seconds)))
    }

    fn run(&mut self, command: Command<'_>) -> Result<(), End> {
        match command {
            Command::Quit => Err(End::Left),
            Command::UseSchema(name) => match self.session.use_schema(&String::from_utf8_lossy(name)) {
                Ok(()) => self.ok(),
                Err(error) => self.error(&error),
            },
            Command::Query(text) => self.query(text),
            Command::FieldList { table } => self.field_list(table),
            // Of the rest there is nothing to flush.
            Command::Refresh { status } => self.text(if status { "FLUSH STATUS" } else { "FLUSH TABLES" }),
            // A line for people.
            Command::Statistics => self.send(self.session.statistics().as_bytes()),
            Command::ProcessInfo => self.text("SHOW PROCESSLIST"),
            Command::ProcessKill(id) => match self.kill(&format!("KILL {id}"), id.into(), false) {
                Ok(()) => self.ok(),
                Err(error) => self.error(&error),
            },
            Command::Ping => self.ok(),
            Command::ChangeUser(login) => self.change_user(login),
            Command::ResetConnection => {
                let schema = self.session.schema();
                self.renew(self.session.account().clone())?;
                self.enter(schema.unwrap_or_default().as_bytes())
            }
            Command::SetMultiStatements(on) => {
                if on {
                    self.capabilities |= capability::MULTI_STATEMENTS;
                } else {
                    self.capabilities &= !capability::MULTI_STATEMENTS;
                }
                self.send(&self.done(0).end_of_rows(self.deprecates_eof()))
            }
            Command::Prepare(text) => self.prepare(text),
            Command::Execute { statement, with_cursor, arguments } => self.execute(statement, with_cursor, arguments),
            Command::Fetch { statement, rows } => self.fetch(statement, rows),
            Command::SendLongData { statement, parameter, bytes } => {
                // It has no answer.
                let limits = self.limits();
                self.statements.add_piece(statement, parameter, bytes, limits);
                Ok(())
            }
            Command::Close(statement) => {
                self.statements.remove(statement);
                Ok(())
            }
            Command::Reset(statement) => match self.statements.take_long(statement) {
                Some(_) => {
                    self.statements.close_cursor(statement);
                    self.ok()
                }
                None => self.error(&unknown_statement(statement, "mysqld_stmt_reset")),
            },
            Command::Unknown => self.error(&error(1047, "08S01", "Unknown command")),
        }
    }

    /// One statement, or several if the client has said that it can take several answers.
    fn query(&mut self, text: &[u8]) -> Result<(), End> {
        let text = match utf8(text) {
            Ok(text) => text,
            Err(error) => return self.error(&error),
        };
        let is_split = self.capabilities & capability::MULTI_STATEMENTS != 0 && fits(text);
        let pieces = if is_split { split(text) } else { Vec::new() };
        if pieces.is_empty() {
            return self.text(text);
        }
        for (index, piece) in pieces.iter().enumerate() {
            let result = self.statement(&piece.text, &[], &[]);
            let is_last = index + 1 == pieces.len() || result.is_err();
            self.answer(&result, Form::Text, if is_last { 0 } else { status::MORE_RESULTS })?;
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// One statement, whose rows go as texts.
    fn text(&mut self, text: &str) -> Result<(), End> {
        let result = self.statement(text, &[], &[]);
        self.answer(&result, Form::Text, 0)
    }

    /// Runs a statement: the server's own, or one for the session.
    fn statement(&mut self, text: &str, values: &[OwnedValue], types: &[Option<SqlType>]) -> Result<Outcome, Error> {
        self.origins.clear();
        if let Some((id, only_statement)) = command::kill(text) {
            self.count(command::KILL);
            self.kill(text, id, only_statement)?;
            return Ok(Outcome::Done { matched: 0, changed: 0, info: String::new() });
        }
        self.place.runs(text);
        // Of several statements that one packet has none runs that had not begun. Whoever is killed from here on is cancelled.
        let is_killed = self.place.is_killed();
        let result = if is_killed { Err(interrupted()) } else { self.session.execute_typed(text, values, types) };
        self.place.has_run();
        self.origins = self.session.origins();
        result
    }

    /// KILL, and who kills itself is told so.
    fn kill(&self, text: &str, id: u64, only_statement: bool) -> Result<(), Error> {
        // As a statement that runs: of such a one the connection takes the answer before it ends.
        self.place.runs(text);
        let result = self.shared.clients.kill(id, only_statement, self.session.account());
        self.place.has_run();
        if result.is_ok() && id == self.place.id() {
            return Err(interrupted());
        }
        result
    }

    fn answer(&mut self, result: &Result<Outcome, Error>, form: Form, more: u16) -> Result<(), End> {
        match result {
            Ok(Outcome::Rows(grid)) => {
                let origins = std::mem::take(&mut self.origins);
                self.rows(grid, &origins, form, more)?;
            }
            Ok(Outcome::Done { matched, changed, info }) => {
                let affected = if self.capabilities & capability::FOUND_ROWS != 0 { matched } else { changed };
                let done = Done { affected: *affected, info, ..self.done(more) };
                self.packets.write(&done.packet())?;
            }
            Err(error) => self.packets.write(&response::error(error))?,
        }
        self.packets.flush()?;
        self.session.forget_result();
        Ok(())
    }

    fn rows(&mut self, grid: &Grid, origins: &[Option<Origin>], form: Form, more: u16) -> io::Result<()> {
        let done = self.done(more);
        let columns = columns_of(grid);
        self.head(grid, &columns, origins, done)?;
        let mut packet = Vec::new();
        for row in &grid.rows {
            match form {
                Form::Text => response::text_row(&mut packet, row),
                Form::Binary => response::binary_row(&mut packet, row, &columns),
            }
            self.packets.write(&packet)?;
        }
        self.packets.write(&done.end_of_rows(self.deprecates_eof()))
    }

    /// What comes before rows: how many columns, and each of them.
    fn head(&mut self, grid: &Grid, columns: &[Column], origins: &[Option<Origin>], done: Done<'_>) -> io::Result<()> {
        let mut packet = Vec::new();
        super::packet::put_number(&mut packet, columns.len() as u64);
        self.packets.write(&packet)?;
        self.definitions(grid, columns, origins, done)
    }

    fn definitions(&mut self, grid: &Grid, columns: &[Column], origins: &[Option<Origin>], done: Done<'_>) -> io::Result<()> {
        for (index, (head, column)) in grid.columns.iter().zip(columns).enumerate() {
            let origin = origins.get(index).and_then(Option::as_ref);
            self.packets.write(&column.definition(head, origin))?;
        }
        if self.deprecates_eof() { Ok(()) } else { self.packets.write(&done.eof()) }
    }

    /// The columns of a table, as clients ask for them that complete names.
    fn field_list(&mut self, table: &[u8]) -> Result<(), End> {
        let table = String::from_utf8_lossy(table).replace('`', "``");
        let described = match self.session.describe(&format!("SELECT * FROM `{table}`")) {
            Ok(described) => described,
            Err(error) => return self.error(&error),
        };
        let origins = self.session.origins();
        for (head, origin) in described.columns.iter().zip(&origins) {
            let mut packet = Column::of(head, []).definition(head, origin.as_ref());
            // Its default: NULL.
            packet.push(0xfb);
            self.packets.write(&packet)?;
        }
        self.send(&self.done(0).end_of_rows(self.deprecates_eof()))
    }

    fn change_user(&mut self, packet: &[u8]) -> Result<(), End> {
        let Ok(login) = Login::parse_change(packet, self.capabilities) else {
            return refuse(&mut self.packets, &bad_handshake());
        };
        let host = self.session.account().host.clone();
        self.within(self.limits().login_time);
        // A nonce serves one login.
        let account = authenticate(&mut self.packets, &self.shared.accounts, &login, None, &host)?;
        self.renew(account)?;
        self.enter(login.schema)
    }

    /// A session as if the client had just come in.
    fn renew(&mut self, account: Account) -> Result<(), End> {
        self.statements.clear();
        match open(self.shared, account, self.place, self.packets.stream(), self.capabilities) {
            Ok(session) => {
                self.session = session;
                Ok(())
            }
            Err(error) => refuse(&mut self.packets, &error),
        }
    }

    fn prepare(&mut self, text: &[u8]) -> Result<(), End> {
        let described = utf8(text).and_then(|text| {
            let size = self.statements.size_bytes();
            let (count, limit) = (self.statements.count(), self.limits().prepared_statements);
            if count >= limit || size + text.len() > self.limits().prepared_bytes {
                let message = format!(
                    "Can't create more than max_prepared_stmt_count statements (current value: {limit}; {count} statements of \
                     {size} bytes)"
                );
                return Err(error(1461, "42000", message));
            }
            let described = self.session.describe(text)?;
            if described.parameters > usize::from(u16::MAX) {
                return Err(error(1390, "HY000", "Prepared statement contains too many placeholders"));
            }
            Ok((text.to_owned(), described))
        });
        let (text, described) = match described {
            Ok(described) => described,
            Err(error) => return self.error(&error),
        };
        let id = self.statements.insert(text, described.parameters);
        let done = self.done(0);
        let mut packet = vec![0];
        packet.extend_from_slice(&id.to_le_bytes());
        packet.extend_from_slice(&(described.columns.len() as u16).to_le_bytes());
        packet.extend_from_slice(&(described.parameters as u16).to_le_bytes());
        packet.push(0);
        packet.extend_from_slice(&done.warnings.to_le_bytes());
        self.packets.write(&packet)?;
        if described.parameters > 0 {
            let definition = response::parameter_definition();
            for _ in 0..described.parameters {
                self.packets.write(&definition)?;
            }
            if !self.deprecates_eof() {
                self.packets.write(&done.eof())?;
            }
        }
        if !described.columns.is_empty() {
            let columns: Vec<Column> = described.columns.iter().map(|head| Column::of(head, [])).collect();
            let grid = Grid { columns: described.columns, rows: Vec::new() };
            self.definitions(&grid, &columns, &self.session.origins(), done)?;
        }
        Ok(self.packets.flush()?)
    }

    fn execute(&mut self, id: u32, with_cursor: bool, arguments: &[u8]) -> Result<(), End> {
        self.statements.close_cursor(id);
        let Some((prepared, long)) = self.statements.take_long(id) else {
            return self.error(&unknown_statement(id, "mysqld_stmt_execute"));
        };
        let long = match long {
            Ok(long) => long,
            Err(error) => return self.error(&error),
        };
        let values = command::arguments(arguments, prepared.parameters, &mut prepared.types, &long);
        let Ok(values) = values else {
            return self.error(&error(1210, "HY000", "Incorrect arguments to mysqld_stmt_execute"));
        };
        // What came in pieces is a text, whatever its type.
        let moment = |(place, of): (usize, &ParameterType)| {
            of.moment().filter(|_| !u16::try_from(place).is_ok_and(|place| long.contains_key(&place)))
        };
        let moments: Vec<Option<SqlType>> = prepared.types.iter().enumerate().map(moment).collect();
        let text = prepared.text.clone();
        match self.statement(&text, &values, &moments) {
            Ok(Outcome::Rows(grid)) if with_cursor => self.open_cursor(id, grid),
            result => self.answer(&result, Form::Binary, 0),
        }
    }

    /// Answers with the columns, and keeps the rows; where there is no room for them, they go at once, as if nobody had wanted a cursor.
    fn open_cursor(&mut self, id: u32, mut grid: Grid) -> Result<(), End> {
        let columns = columns_of(&grid);
        let rows = std::mem::take(&mut grid.rows);
        let limits = self.limits();
        if let Err(cursor) = self.statements.open(id, Cursor::new(columns.clone(), rows), limits) {
            grid.rows = cursor.rows.collect();
            return self.answer(&Ok(Outcome::Rows(grid)), Form::Binary, 0);
        }
        let origins = std::mem::take(&mut self.origins);
        let done = self.done(status::CURSOR_EXISTS);
        self.head(&grid, &columns, &origins, done)?;
        // Here the columns have an end of their own.
        if self.deprecates_eof() {
            self.packets.write(&done.end_of_rows(true))?;
        }
        Ok(self.packets.flush()?)
    }

    fn fetch(&mut self, id: u32, count: u32) -> Result<(), End> {
        let cursor = match self.statements.cursor(id) {
            Some(Some(cursor)) => cursor,
            Some(None) => return self.error(&error(1421, "HY000", format!("The statement ({id}) has no open cursor."))),
            None => return self.error(&unknown_statement(id, "mysqld_stmt_fetch")),
        };
        let mut packet = Vec::new();
        let mut sent = 0;
        for row in cursor.rows.by_ref().take(count as usize) {
            response::binary_row(&mut packet, &row, &cursor.columns);
            self.packets.write(&packet)?;
            sent += 1;
        }
        // As MySQL, which sees the end only when it looks behind it.
        let is_over = sent < count;
        if is_over {
            self.statements.close_cursor(id);
        }
        let done = self.done(if is_over { status::LAST_ROW_SENT } else { status::CURSOR_EXISTS });
        self.send(&done.end_of_rows(self.deprecates_eof()))
    }

    fn compresses(&self) -> bool {
        self.capabilities & capability::COMPRESS != 0
    }

    fn deprecates_eof(&self) -> bool {
        self.capabilities & capability::DEPRECATE_EOF != 0
    }

    fn done(&self, more: u16) -> Done<'static> {
        let warnings = u16::try_from(self.session.warning_count()).unwrap_or(u16::MAX);
        let mut status = more;
        if self.session.is_autocommit() {
            status |= status::AUTOCOMMIT;
        }
        if self.session.is_in_transaction() {
            status |= status::IN_TRANSACTION;
        }
        Done { status, warnings, ..Done::default() }
    }

    fn ok(&mut self) -> Result<(), End> {
        self.send(&Done { warnings: 0, ..self.done(0) }.packet())
    }

    fn error(&mut self, error: &Error) -> Result<(), End> {
        self.send(&response::error(error))
    }

    /// The last packet of an answer.
    fn send(&mut self, packet: &[u8]) -> Result<(), End> {
        self.packets.write(packet)?;
        Ok(self.packets.flush()?)
    }
}

fn open<S: Stream>(
    shared: &Shared,
    account: Account,
    place: &Place,
    stream: &Securable<S>,
    capabilities: u32,
) -> Result<Session, Error> {
    let mut session = shared.database.session_numbered(account, place.id())?;
    session.set_encryption(stream.describe(shared.tls.is_some()));
    session.set_compression(capabilities & capability::COMPRESS != 0);
    if !place.logged_in(session.account(), session.canceller(), shared.limits.connections) {
        return Err(too_many(shared));
    }
    Ok(session)
}

fn columns_of(grid: &Grid) -> Vec<Column> {
    let column = |(index, head)| Column::of(head, grid.rows.iter().filter_map(move |row| row.get(index)));
    grid.columns.iter().enumerate().map(column).collect()
}

fn utf8(text: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(text).map_err(|wrong| {
        let bytes: String = text[wrong.valid_up_to()..].iter().take(6).map(|byte| format!("\\x{byte:02X}")).collect();
        error(1300, "HY000", format!("Invalid utf8mb4 character string: '{bytes}'"))
    })
}

fn malformed() -> Error {
    error(1835, "HY000", "Malformed communication packet.")
}

fn interrupted() -> Error {
    error(1317, "70100", "Query execution was interrupted")
}

fn unknown_statement(id: u32, function: &str) -> Error {
    error(1243, "HY000", format!("Unknown prepared statement handler ({id}) given to {function}"))
}
