//! Files and sockets: which there are, and what is known of them.

use super::*;

impl Naive {
    pub(super) fn find_file(&self, path: &[u8]) -> Option<FileKey> {
        self.files.iter().position(|file| !file.gone && file.path == path)
    }

    pub(super) fn taken_files(&self) -> usize {
        self.file_places.iter().flatten().filter(|(_, taken)| *taken).count()
    }

    /// Somebody wants the file of this path.
    pub(crate) fn refer_to_file(&mut self, class: ClassKey, path: &[u8]) -> Option<FileKey> {
        if class.0 != FILES {
            return None;
        }
        if let Some(key) = self.find_file(path) {
            self.files[key].references += 1;
            return Some(key);
        }
        let places = self.file_places.len();
        if self.taken_files() == places {
            self.lose(Lost::FileInstances);
            return None;
        }
        let free = |place: &usize| self.file_places[*place].is_none_or(|(_, taken)| !taken);
        let place = (self.file_hint..places).chain(0..self.file_hint).find(free).unwrap();
        self.file_hint = place + 1;
        let key = self.files.len();
        self.file_places[place] = Some((key, true));
        self.files.push(File { path: path.to_vec(), class, place, opened: false, open_count: 0, references: 1, gone: false });
        Some(key)
    }

    pub(crate) fn refer_again(&mut self, key: FileKey) {
        self.files[key].references += 1;
    }

    pub(crate) fn release_file(&mut self, key: FileKey) {
        let file = &mut self.files[key];
        file.references -= 1;
        file.gone |= file.references == 0 && !file.opened;
        if file.references == 0 && file.gone {
            self.free_file(key);
        }
    }

    /// While many places are taken, the next search starts where one was given back.
    pub(super) fn free_file(&mut self, key: FileKey) {
        let place = self.files[key].place;
        if self.taken_files() > self.file_places.len() / 2 {
            self.file_hint = place;
        }
        self.file_places[place] = Some((key, false));
    }

    pub(crate) fn file_opened(&mut self, key: FileKey) {
        self.files[key].opened = true;
        self.files[key].open_count += 1;
    }

    pub(crate) fn file_closed(&mut self, key: FileKey) {
        self.files[key].open_count -= 1;
    }

    pub(crate) fn file_deleted(&mut self, path: &[u8]) {
        if let Some(key) = self.find_file(path) {
            self.files[key].gone = true;
            if self.files[key].references == 0 {
                self.free_file(key);
            }
        }
    }

    /// A folder, with all that is in it.
    pub(crate) fn folder_deleted(&mut self, path: &[u8]) {
        self.file_deleted(path);
        for key in self.files_below(path) {
            let path = self.files[key].path.clone();
            self.file_deleted(&path);
        }
    }

    /// By what is kept of their paths; in the order of their places.
    pub(super) fn files_below(&self, folder: &[u8]) -> Vec<FileKey> {
        let folder = [folder, b"/"].concat();
        let in_places = self.file_places.iter().flatten().filter(|(_, taken)| *taken).map(|(key, _)| *key);
        let kept = |key: FileKey| &self.files[key].path[..self.files[key].path.len().min(512)];
        in_places.filter(|key| !self.files[*key].gone && kept(*key).starts_with(&folder)).collect()
    }

    pub(crate) fn file_renamed(&mut self, from: &[u8], to: &[u8]) {
        if from == to {
            return;
        }
        self.rename_one(from, to);
        for key in self.files_below(from) {
            let path = self.files[key].path.clone();
            if self.files[key].gone {
                // One before it got its name.
            } else if path.len() > 512 {
                self.file_deleted(&path);
            } else {
                self.rename_one(&path, &[to, &path[from.len()..]].concat());
            }
        }
    }

    pub(super) fn rename_one(&mut self, from: &[u8], to: &[u8]) {
        self.file_deleted(to);
        match self.find_file(from) {
            Some(key) if self.files[key].opened => self.files[key].path = to.to_vec(),
            Some(_) => self.file_deleted(from),
            None => {}
        }
    }

    pub(super) fn file_rows(&self) -> impl Iterator<Item = (FileKey, &File)> {
        self.files.iter().enumerate().filter(|(_, file)| file.opened && !file.gone)
    }

    /// The name that an event shows, if no other file has the place.
    pub(super) fn event_file_name(&self, key: FileKey) -> Option<String> {
        let file = &self.files[key];
        self.file_places[file.place].filter(|(last, _)| *last == key).map(|_| shown_path(&file.path))
    }

    // Sockets.

    pub(super) fn open_sockets(&self) -> impl Iterator<Item = (SocketKey, &Socket)> {
        self.sockets.iter().enumerate().filter(|(_, socket)| socket.open)
    }

    pub(crate) fn create_socket(
        &mut self,
        class: ClassKey,
        descriptor: i32,
        peer: (String, u16),
        thread: u64,
    ) -> Option<SocketKey> {
        if class.0 != SOCKETS {
            return None;
        }
        if self.open_sockets().count() == self.size(Size::MaxSocketInstances) {
            self.lose(Lost::SocketInstances);
            return None;
        }
        self.sockets.push(Socket { class, descriptor, peer, open: true, thread, first: 0, idle: 0 });
        Some(self.sockets.len() - 1)
    }

    pub(crate) fn close_socket(&mut self, key: SocketKey) {
        self.sockets[key].open = false;
    }

    pub(crate) fn set_peer(&mut self, key: SocketKey, peer: (String, u16)) {
        self.sockets[key].peer = peer;
    }

    pub(crate) fn begin_idle(&mut self, key: SocketKey, thread: u64) {
        let socket = &mut self.sockets[key];
        socket.idle += 1;
        socket.thread = if thread == 0 { socket.thread } else { thread };
    }

    pub(crate) fn end_idle(&mut self, key: SocketKey) {
        self.sockets[key].idle = self.sockets[key].idle.saturating_sub(1);
    }

    /// An operation that is no wait.
    pub(crate) fn count_socket(&mut self, thread: usize, class: ClassKey, io: Io, bytes: u64) {
        let on = self.on(class, &self.threads[thread]);
        if on.enabled {
            self.count_first(thread, io);
            self.counted.push(Counted {
                class,
                thread: None,
                instance: None,
                wait_ps: None,
                bucket: None,
                io: Some(io),
                io_waits: false,
                is_wait: false,
                bytes,
                figures: [0; FIGURES],
                read_only: false,
                digest: None,
            });
        }
    }

    /// A thread that counts in a socket in which nobody has counted is whose it is.
    pub(super) fn count_first(&mut self, thread: usize, io: Io) {
        let id = self.threads[thread].id;
        if let Some(socket) = io.socket.map(|key| &mut self.sockets[key]).filter(|socket| socket.first == 0) {
            socket.first = id;
        }
    }

    // `setup_actors`.
}
