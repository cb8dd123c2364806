//! The clients that are connected: what they do, and how they are stopped.

use crate::socket::Socket;
use perfschema::render::OwnedValue;
use perfschema_sql::{Account, Canceller, Error, Right};
use std::collections::BTreeMap;
use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How much of a statement SHOW PROCESSLIST shows, in characters.
const INFO_LENGTH: usize = 1024;

/// Every client, by the number of its connection.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    connected: Mutex<BTreeMap<u64, Client>>,
    /// The most that there were at once. Changed under the lock, and read by people.
    most: AtomicUsize,
    /// Where they come in by TCP, and by a Unix socket: where one listened last.
    places: Mutex<(u16, String)>,
}

/// One client, as the others see it.
#[derive(Debug)]
struct Client {
    /// None for a client that brought its own stream.
    socket: Option<Arc<Socket>>,
    /// With the port, where there is one.
    host: String,
    account: Option<Account>,
    canceller: Option<Canceller>,
    schema: Option<&'static str>,
    command: &'static str,
    since: Instant,
    /// What runs now.
    statement: Option<String>,
    is_killed: bool,
}

/// A client's place among the others. Dropping it takes the client off the list.
#[derive(Debug)]
pub(crate) struct Place {
    clients: Arc<Clients>,
    id: u64,
}

impl Clients {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Client>> {
        // Every change is one assignment: what a panic leaves is whole.
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client, if there is room, or if it is the first for whom there is none: it may be one who controls, to see who all these are. The
    /// first of those who have not said yet who they are makes room: by saying nothing nobody keeps others out.
    pub(crate) fn enter(self: &Arc<Self>, id: u64, socket: Option<Arc<Socket>>, host: &str, limit: usize) -> Option<Place> {
        let mut clients = self.lock();
        if !is_room(&clients, limit) {
            clients.values_mut().find(|client| client.can_make_room())?.stop(false);
        }
        let port = socket.as_ref().and_then(|socket| socket.port());
        let client = Client {
            socket,
            host: port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
            account: None,
            canceller: None,
            schema: None,
            command: "Connect",
            since: Instant::now(),
            statement: None,
            is_killed: false,
        };
        clients.insert(id, client);
        self.most.fetch_max(clients.len(), Ordering::Relaxed);
        Some(Place { clients: Arc::clone(self), id })
    }

    fn lock_places(&self) -> MutexGuard<'_, (u16, String)> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn come_by_tcp(&self, port: u16) {
        self.lock_places().0 = port;
    }

    #[cfg(unix)]
    pub(crate) fn come_by_socket(&self, path: String) {
        self.lock_places().1 = path;
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// KILL by an account.
    pub(crate) fn kill(&self, id: u64, only_statement: bool, by: &Account) -> Result<(), Error> {
        let mut clients = self.lock();
        let Some(client) = clients.get_mut(&id) else {
            return Err(error(1094, "HY000", format!("Unknown thread id: {id}")));
        };
        let is_own = client.account.as_ref().is_some_and(|account| account.user == by.user);
        if !is_own && by.right != Right::Control {
            return Err(error(1095, "HY000", format!("You are not owner of thread {id}")));
        }
        client.stop(only_statement);
        Ok(())
    }

    /// Ends every connection.
    pub(crate) fn stop_all(&self) {
        self.lock().values_mut().for_each(|client| client.stop(false));
    }
}

impl perfschema_sql::Clients for Clients {
    /// A reader sees its own connections.
    fn processlist(&self, to: &Account) -> Vec<Vec<OwnedValue>> {
        let clients = self.lock();
        let row = |(id, client): (&u64, &Client)| -> Option<Vec<OwnedValue>> {
            let user = client.account.as_ref().map_or("unauthenticated user", |account| &account.user);
            let may_see = to.right == Right::Control || client.account.as_ref().is_some_and(|account| account.user == to.user);
            let state = if client.is_killed { "Killed" } else { "" };
            may_see.then(|| {
                vec![
                    (*id).into(),
                    user.to_owned().into(),
                    client.host.clone().into(),
                    client.schema.map_or(OwnedValue::Null, |schema| schema.to_owned().into()),
                    client.command.into(),
                    client.since.elapsed().as_secs().into(),
                    state.into(),
                    client.statement.clone().map_or(OwnedValue::Null, Into::into),
                ]
            })
        };
        clients.iter().filter_map(row).collect()
    }

    fn status(&self) -> Vec<(&'static str, u64)> {
        let clients = self.lock();
        // A client has its thread for as long as it is connected: none waits for the next one.
        let running = clients.values().filter(|client| client.statement.is_some()).count();
        let [connected, running, most] = [clients.len(), running, self.most.load(Ordering::Relaxed)].map(|count| count as u64);
        vec![
            ("Max_used_connections", most),
            ("Threads_cached", 0),
            ("Threads_connected", connected),
            ("Threads_running", running),
        ]
    }

    fn places(&self) -> (u16, String) {
        self.lock_places().clone()
    }

    fn flush_status(&self) {
        self.most.store(self.lock().len(), Ordering::Relaxed);
    }
}

/// One more than the limit: for who may control. Who is being sent away takes none.
fn is_room(clients: &BTreeMap<u64, Client>, limit: usize) -> bool {
    clients.values().filter(|client| !client.is_killed).count() <= limit
}

impl Client {
    /// Whether it can be sent away for another.
    fn can_make_room(&self) -> bool {
        self.account.is_none() && self.socket.is_some() && !self.is_killed
    }

    fn stop(&mut self, only_statement: bool) {
        if let Some(canceller) = &self.canceller {
            canceller.cancel();
        }
        if only_statement {
            return;
        }
        self.is_killed = true;
        if let Some(socket) = &self.socket {
            // What runs is told why it ends; what only sends or waits is cut off.
            socket.shut(if self.statement.is_some() { Shutdown::Read } else { Shutdown::Both });
        }
    }
}

impl Place {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    fn change(&self, change: impl FnOnce(&mut Client)) {
        if let Some(client) = self.clients.lock().get_mut(&self.id) {
            change(client);
        }
    }

    /// The client has said who it is. False if there is no room for it: all of them are taken by others who have, and it may not control.
    pub(crate) fn logged_in(&self, account: &Account, canceller: Canceller, limit: usize) -> bool {
        let mut clients = self.clients.lock();
        // Who is in with this right has its place: it is none more.
        let is_in = clients.get(&self.id).is_some_and(|own| own.account.as_ref().is_some_and(|own| own.right == account.right));
        let others = clients.iter().filter(|(id, client)| **id != self.id && client.account.is_some() && !client.is_killed);
        if account.right != Right::Control && !is_in && others.count() >= limit {
            return false;
        }
        if let Some(client) = clients.get_mut(&self.id) {
            (client.account, client.canceller) = (Some(account.clone()), Some(canceller));
        }
        true
    }

    /// It begins a command, or waits.
    pub(crate) fn doing(&self, command: &'static str, schema: Option<&'static str>) {
        self.change(|client| (client.command, client.schema, client.since) = (command, schema, Instant::now()));
    }

    /// A statement begins.
    pub(crate) fn runs(&self, statement: &str) {
        let statement = statement.chars().take(INFO_LENGTH).collect();
        self.change(|client| {
            // Whoever sees it run can stop it.
            client.canceller.iter().for_each(Canceller::announce);
            client.statement = Some(statement);
        });
    }

    /// It has ended.
    pub(crate) fn has_run(&self) {
        self.change(|client| {
            client.canceller.iter().for_each(Canceller::revoke);
            client.statement = None;
        });
    }

    pub(crate) fn is_killed(&self) -> bool {
        self.clients.lock().get(&self.id).is_none_or(|client| client.is_killed)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.clients.lock().remove(&self.id);
    }
}

/// An error as MySQL words it.
pub(crate) fn error(errno: u16, sqlstate: &'static str, message: impl Into<String>) -> Error {
    Error { errno, sqlstate, message: message.into() }
}
