//! Files: known by the paths that the program gave, with their sums.
//!
//! A file has a place from its first open until it is deleted; a handle keeps the place's number, so an event searches nothing. Opens find
//! the place by its path, through an index of buckets. A bucket is one word: up to three places, and how often it changed. One
//! compare-and-swap of it decides who of two opens the file and who finds it:
//! ```text
//! first open                                another open
//!   words of the place         Relaxed        bucket               [N2] Acquire
//!   references := 1            [N3] Release   references + 1       [N4] Acquire
//!   bucket: with the place     [N1] Release   is it the path?      Relaxed
//!      … open …
//!   state := LIVE              as [P3]
//! last of those who refer to it, if it was deleted or never opened
//!   references - 1             [N5] Release
//!   fence                      [N6] Acquire
//!   bucket: without the place
//!   state := FREE              as [P4]
//! ```
//! Handles refer to a file, and so does whoever is in the middle of an open, a delete, a rename: a place is never given to another path
//! while one of them may still count there. A deleted file that is open has no row any more, but keeps its place.
//!
//! How they are counted is the same for sockets and files, and stands in [`io`](crate::io).

use crate::class::Class;
#[cfg(perfschema_loom)]
use crate::io;
use crate::io::{Counted, FILES, IoSummary, Place};
use crate::lost::Lost;
use crate::operation::Group;
use crate::path::{Kept, Name, PATH_BYTES, is_below, path_text, without_slashes};
use crate::pool::{self, Look};
use crate::region::{FILE, Region, Section, Text};
use crate::setup;
use crate::stat::Summary;
use crate::sync::{Ordering, Word, fence};
use crate::table::Sweep;

pub(crate) mod bucket;

/// Words of a file's place. The first are those of an [`io::Place`](crate::io::Place).
pub(crate) mod word {
    #[cfg(perfschema_loom)]
    pub(crate) use crate::io::word::OWN_VERSION;
    pub(crate) use crate::io::word::{ADDRESS, CLASS, STATE};
    /// The state's version when the place was claimed; a rename makes another one.
    pub(crate) const BORN: usize = 3;
    /// Of the whole path, also of what did not fit.
    pub(crate) const HASH: usize = 4;
    /// Bytes of the whole path.
    pub(crate) const LEN: usize = 5;
    pub(crate) const REFERENCES: usize = 6;
    pub(crate) const OPEN_COUNT: usize = 7;
    pub(crate) const PATH: core::ops::Range<usize> = crate::io::PLACE..136;
}

/// Bytes of the longest path that a system takes.
const PATH_MAX: usize = 4096;

// What REFERENCES holds besides their number.
/// Deleted, or never opened and given up: nobody finds it any more.
pub(crate) const GONE: u64 = 1 << 63;
/// It was opened, so it has a row.
pub(crate) const OPENED: u64 = 1 << 62;
const COUNT: u64 = OPENED - 1;

/// How often an open looks for its path again because the bucket changed meanwhile. Each time somebody else got on.
const ATTEMPTS: u32 = if cfg!(perfschema_loom) { 3 } else { 64 };

/// A file as a handle knows it: the number of its place, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileId(u32);

impl FileId {
    /// No file.
    pub const NONE: FileId = FileId(0);

    /// As a number to keep in an atomic.
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// From a number that came from [`to_bits`](Self::to_bits). With any other the figures of the region suffer, nothing else.
    pub const fn from_bits(bits: u32) -> FileId {
        FileId(bits)
    }

    fn of(place: usize) -> FileId {
        FileId(place as u32 + 1)
    }

    fn place(self) -> usize {
        (self.0 as usize).wrapping_sub(1)
    }
}

/// What the record of a wait for a file keeps besides what every wait has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileEvent {
    /// FLAGS: what is special about an open, such as O_DIRECT; 0 for everything else.
    pub flags: u32,
    /// Which file: see [`FileInstance`].
    pub(crate) name: u64,
}

impl FileEvent {
    /// A wait for this file; without one OBJECT_NAME is NULL.
    #[inline]
    pub fn new(file: Option<&FileInstance<'_>>, flags: u32) -> FileEvent {
        FileEvent { flags, name: file.map_or(0, |file| file.name) }
    }
}

/// How a wait for a file counts, given to [`Actor::end`](crate::Actor::end).
#[derive(Clone, Copy, Debug)]
pub struct FileIo<'r> {
    /// The file, if it is known.
    pub file: Option<FileInstance<'r>>,
    /// Which columns of the summaries.
    pub group: Group,
}

/// A file as the region knows it, to whoever refers to it.
#[derive(Clone, Copy, Debug)]
pub struct FileInstance<'r> {
    /// Its number, and in the upper half the low bits of BORN, so that a place's next file is not taken for this one.
    name: u64,
    words: &'r [Word; FILE],
}

/// Buckets for so many files. So many that a fourth file falls to one bucket of a full pool in one pool of a hundred; it is counted as
/// lost then.
pub(crate) const fn bucket_count(files: usize) -> usize {
    match files {
        0 => 0,
        _ => 16 * files.next_power_of_two(),
    }
}

/// What looking for a path in a bucket found.
enum Searched<'r> {
    Found(FileInstance<'r>),
    Nothing,
    /// The bucket changed meanwhile.
    Again,
}

impl<'r> Region<'r> {
    /// The file of an id; None for [`FileId::NONE`].
    #[inline]
    pub fn file(&self, id: FileId) -> Option<FileInstance<'r>> {
        FileInstance::of(self.arrays::<FILE>(Section::FileInstances), id)
    }

    /// The file of this path, claimed now if there is none: the bytes that the program gave, whatever they are. The caller refers to it
    /// until [`release_file`](Self::release_file); it gets a row when it is opened. `class` is its instrument if it is new. None if there
    /// is no room, which is counted, or if the instrument is none of files.
    ///
    /// ```
    /// # use perfschema_core::{Config, Identity, InstrumentName, Region, Setting, StaticRegion, tables};
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &perfschema_timer::Timers::calibrate())?;
    /// let class = region.register(InstrumentName::literal("wait/io/file/app/index"), Setting::ON)?;
    /// let file = region.refer_to_file(class, b"/var/lib/app/index").expect("there is room");
    /// region.file_opened(file);
    /// region.scan(&tables::FileInstances, |row| assert_eq!((row.file_name.as_str(), row.open_count), ("/var/lib/app/index", 1)));
    /// region.file_closed(file);
    /// region.release_file(file);
    /// region.scan(&tables::FileInstances, |row| assert_eq!(row.open_count, 0));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn refer_to_file(&self, class: Class, path: &[u8]) -> Option<FileId> {
        self.refer_to(class, path).map(|file| file.id())
    }

    /// The same, as a handle keeps it.
    pub fn refer_to(&self, class: Class, path: &[u8]) -> Option<FileInstance<'r>> {
        let name = Name::of(path);
        // Nearly always it is there, opened before by the same instrument. What else may be needed is apart, with all that it prepares.
        match self.look_up(&name) {
            Searched::Found(file) if file.words[word::CLASS].get() == class.0.into() => return Some(file),
            Searched::Found(file) => self.release(file),
            Searched::Nothing | Searched::Again => {}
        }
        self.refer_or_claim(class, &name)
    }

    /// The same, also where it is not there yet, or the bucket changes meanwhile.
    #[cold]
    #[inline(never)]
    fn refer_or_claim(&self, class: Class, name: &Name<'_>) -> Option<FileInstance<'r>> {
        let is_of_files = || FILES.classes(self).contains(&class.index());
        let Some(bucket) = self.bucket(name.hash) else {
            if is_of_files() {
                self.count_lost(Lost::FileInstances);
            }
            return None;
        };
        let mut claimed = None;
        for _ in 0..ATTEMPTS {
            // [N2] Acquire: pairs with [N1]; the words of the places are at least as new as the bucket.
            let seen = bucket.load(Ordering::Acquire);
            match self.search(bucket, seen, name) {
                Searched::Found(file) => {
                    // Another one linked it first.
                    claimed.into_iter().for_each(|own| self.release(own));
                    // The instrument that it was opened with first was looked at then.
                    if file.words[word::CLASS].get() == class.0.into() || is_of_files() {
                        return Some(file);
                    }
                    self.release(file);
                    return None;
                }
                Searched::Again => continue,
                Searched::Nothing if claimed.is_none() && !is_of_files() => return None,
                Searched::Nothing => {}
            }
            claimed = claimed.or_else(|| self.claim_file(class, name));
            let Some((file, with)) = claimed.and_then(|file| Some((file, bucket::with(seen, file.id().place())?))) else { break };
            // [N1] Release: pairs with [N2].
            if bucket.compare_exchange(seen, with, Ordering::Release).is_ok() {
                // It stays claimed until it is opened.
                return Some(file);
            }
        }
        claimed.into_iter().for_each(|own| self.release(own));
        self.count_lost(Lost::FileInstances);
        None
    }

    /// One more who refers to a file that the caller refers to: a handle is duplicated.
    pub fn refer_again(&self, id: FileId) {
        self.file(id).into_iter().for_each(|file| file.refer_again());
    }

    /// The caller refers to the file no longer.
    pub fn release_file(&self, id: FileId) {
        self.file(id).into_iter().for_each(|file| self.release(file));
    }

    /// The same, of a file that the caller has found before.
    pub fn release(&self, file: FileInstance<'r>) {
        let references = &file.words[word::REFERENCES];
        let mut seen = references.get();
        loop {
            if seen & COUNT == 0 {
                // Not ours: the memory is damaged.
                return;
            }
            let mut left = seen - 1;
            if left & (COUNT | OPENED) == 0 {
                left |= GONE;
            }
            // [N5] Release: pairs with [N6]; what was counted here comes before what the place's next file counts.
            match references.compare_exchange(seen, left, Ordering::Release) {
                Ok(_) if left & (GONE | COUNT) == GONE => break,
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
        self.give_back(file);
    }

    /// Nobody refers to the file any more.
    #[cold]
    fn give_back(&self, file: FileInstance<'r>) {
        // [N6] Acquire fence: pairs with [N5] of all others.
        fence(Ordering::Acquire);
        self.unlink(file.id(), file.words[word::HASH].get());
        pool::release_last(&file.words[word::STATE]);
        let used = &self.setup()[setup::word::FILES_USED];
        let before = used.fetch_add(u64::MAX, Ordering::Relaxed);
        if before > self.place(Section::FileInstances).count as u64 / 2 {
            // Search no longer than needed; while there is room the search goes round, so that the names in the histories last.
            self.setup()[setup::word::FILE_HINT].set(file.id().place() as u64);
        }
    }

    /// The file is open: a handle refers to it.
    pub fn file_opened(&self, id: FileId) {
        self.file(id).into_iter().for_each(|file| _ = file.opened());
    }

    /// A handle is closed.
    pub fn file_closed(&self, id: FileId) {
        self.file(id).into_iter().for_each(|file| file.closed());
    }

    /// The file was deleted: its rows are gone, its sums by event name stay. Handles that are open count by event name only.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/io/file/app/index"), Setting::ON)?;
    /// for path in [&b"/app/old"[..], b"/app/tmp/1", b"/app/tmp/2"] {
    ///     region.refer_to(class, path).expect("there is room").opened();
    /// }
    /// region.file_renamed(b"/app/old", b"/app/new");
    /// assert!(region.has_file(b"/app/new") && !region.has_file(b"/app/old"));
    /// region.file_deleted(b"/app/new");
    /// assert_eq!(region.scan(&tables::FileInstances, |_| ()).rows, 2);
    /// region.folder_deleted(b"/app/tmp");
    /// assert_eq!(region.scan(&tables::FileInstances, |_| ()).rows, 0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn file_deleted(&self, path: &[u8]) {
        if let Some(id) = self.find_file(&Name::of(path)) {
            self.make_gone(id);
            self.release_file(id);
        }
    }

    /// Whether files may lie below this folder of which too little is kept to tell: who deletes or renames the folder has to name each of them.
    pub fn may_hide_below(&self, folder: &[u8]) -> bool {
        let folder = without_slashes(folder);
        let Some(kept) = folder.get(..PATH_BYTES) else { return false };
        self.arrays::<FILE>(Section::FileInstances).iter().any(|words| {
            words[word::LEN].get() > folder.len() as u64
                && pool::live(&words[word::STATE]).is_some()
                && Kept::of(words).bytes() == kept
        })
    }

    /// Whether there is a file of this path.
    pub fn has_file(&self, path: &[u8]) -> bool {
        let found = self.find_file(&Name::of(path));
        found.into_iter().for_each(|id| self.release_file(id));
        found.is_some()
    }

    /// A folder was deleted with all that was in it: so were the files whose paths begin with its, as far as they are kept; see
    /// [`may_hide_below`](Self::may_hide_below). All places are looked at once; that is little beside what deleting a folder is to
    /// the system.
    pub fn folder_deleted(&self, path: &[u8]) {
        self.file_deleted(path);
        self.for_each_below(path, |id, _, _| self.make_gone(id));
    }

    /// The file, or the folder with all that is in it, was renamed: files keep their counters. A file that had the new name is gone.
    /// So is one below a folder whose path is too long to be kept whole: its new one is not known. As for deleted folders, see
    /// [`may_hide_below`](Self::may_hide_below).
    pub fn file_renamed(&self, from: &[u8], to: &[u8]) {
        // A folder's name may end with a slash.
        if without_slashes(from) == without_slashes(to) {
            return;
        }
        self.rename_one(from, to);
        let to = without_slashes(to);
        self.for_each_below(from, |id, old, rest| {
            let mut path = [0; PATH_MAX];
            let mut new = 0;
            for (byte, place) in to.iter().chain(rest).zip(&mut path) {
                *place = *byte;
                new += 1;
            }
            match path.get(..new).filter(|_| old.whole && new == to.len() + rest.len()) {
                Some(path) => self.rename_one(old.bytes(), path),
                None => self.make_gone(id),
            }
        });
    }

    /// The same of a regular file, which is no folder nor a link to one: nothing is below it, so no other place is looked at.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/io/file/app/index"), Setting::ON)?;
    /// region.refer_to(class, b"/app/index.tmp").expect("there is room").opened();
    /// region.regular_file_renamed(b"/app/index.tmp", b"/app/index");
    /// assert!(region.has_file(b"/app/index") && !region.has_file(b"/app/index.tmp"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn regular_file_renamed(&self, from: &[u8], to: &[u8]) {
        if from != to {
            self.rename_one(from, to);
        }
    }

    /// Shows each file whose path lies below the folder, with its path, and what of that comes behind the folder. Nobody gets its place
    /// meanwhile.
    fn for_each_below(&self, folder: &[u8], mut each: impl FnMut(FileId, &Kept, &[u8])) {
        let folder = without_slashes(folder);
        if folder.len() >= PATH_BYTES {
            return;
        }
        for (place, words) in self.arrays::<FILE>(Section::FileInstances).iter().enumerate() {
            if is_below(words, folder) && refer(words) {
                let (id, kept) = (FileId::of(place), Kept::of(words));
                if let Some(rest) = kept.below(folder) {
                    each(id, &kept, rest);
                }
                self.release_file(id);
            }
        }
    }

    fn rename_one(&self, from: &[u8], to: &[u8]) {
        self.file_deleted(to);
        let Some(id) = self.find_file(&Name::of(from)) else { return };
        if let Some(file) = self.file(id) {
            let name = Name::of(to);
            match pool::claim_again(&file.words[word::STATE]) {
                Some(claim) => {
                    self.unlink(id, file.words[word::HASH].get());
                    name.write(file.words);
                    let linked = self.link(id, &name);
                    claim.publish();
                    if !linked {
                        self.make_gone(id);
                    }
                }
                // Opened by nobody yet, so nobody knows it under its new name.
                None if file.words[word::REFERENCES].get() & OPENED == 0 => self.make_gone(id),
                // Somebody else renames it at this moment: one of the names stays.
                None => {}
            }
        }
        self.release_file(id);
    }

    /// Adds the place to the bucket of its new name; false if there is no room, or another file of this name by now.
    fn link(&self, id: FileId, name: &Name<'_>) -> bool {
        let Some(bucket) = self.bucket(name.hash) else { return false };
        for _ in 0..ATTEMPTS {
            let seen = bucket.load(Ordering::Acquire); // [N2]
            match self.search(bucket, seen, name) {
                Searched::Found(other) => {
                    self.release(other);
                    return false;
                }
                Searched::Again => continue,
                Searched::Nothing => {}
            }
            let Some(with) = bucket::with(seen, id.place()) else { break };
            // [N1] Release: as in refer_or_claim().
            if bucket.compare_exchange(seen, with, Ordering::Release).is_ok() {
                return true;
            }
        }
        self.count_lost(Lost::FileInstances);
        false
    }

    /// The file of this path, if there is one; the caller refers to it then.
    fn find_file(&self, name: &Name<'_>) -> Option<FileId> {
        for _ in 0..ATTEMPTS {
            match self.look_up(name) {
                Searched::Found(file) => return Some(file.id()),
                Searched::Nothing => return None,
                Searched::Again => {}
            }
        }
        None
    }

    /// Looks for the path once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn look_up(&self, name: &Name<'_>) -> Searched<'r> {
        match self.bucket(name.hash) {
            // [N2] Acquire: as in refer_or_claim().
            Some(bucket) => self.search(bucket, bucket.load(Ordering::Acquire), name),
            None => Searched::Nothing,
        }
    }

    /// Looks for the path among the places of a bucket, and refers to the one that has it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn search(&self, bucket: &Word, seen: u64, name: &Name<'_>) -> Searched<'r> {
        let files = self.arrays::<FILE>(Section::FileInstances);
        for place in bucket::places(seen) {
            let Some(words) = files.get(place) else { continue };
            // If this is the hash of a later file of the place, the bucket has changed, and what is done next fails or finds that out.
            if words[word::HASH].get() != name.hash {
                continue;
            }
            if !refer(words) {
                // It is being given up: help, so that nobody waits for who does so.
                if let Some(without) = bucket::without(seen, place) {
                    let _ = bucket.compare_exchange(seen, without, Ordering::Release); // [N1]
                }
                return Searched::Again;
            }
            // Nobody else gets the place now. If it is being renamed at this moment, either name is right.
            let file = FileInstance::new(FileId::of(place), words);
            if name.is_of(words) {
                return Searched::Found(file);
            }
            self.release(file);
        }
        Searched::Nothing
    }

    pub(crate) fn bucket(&self, hash: u64) -> Option<&'r Word> {
        let buckets = self.section(Section::FileIndex);
        // Their number is a power of two.
        buckets.get(hash as usize & buckets.len().checked_sub(1)?)
    }

    fn unlink(&self, id: FileId, hash: u64) {
        if let Some(bucket) = self.bucket(hash) {
            bucket.update(|word| bucket::without(word, id.place()).unwrap_or(word));
        }
    }

    /// Nobody finds it any more, and it has no row.
    fn make_gone(&self, id: FileId) {
        if let Some(file) = self.file(id) {
            file.words[word::REFERENCES].update(|references| references | GONE);
            self.unlink(id, file.words[word::HASH].get());
        }
    }

    /// Takes a free place and writes what is known of the file, which has one reference then.
    #[cold]
    fn claim_file(&self, class: Class, name: &Name<'_>) -> Option<FileInstance<'r>> {
        let files = self.arrays::<FILE>(Section::FileInstances);
        let used = &self.setup()[setup::word::FILES_USED];
        // A full pool is not searched. Relaxed: at worst a place that was given back this moment is not seen yet.
        if used.get() >= files.len() as u64 {
            return None;
        }
        used.fetch_add(1, Ordering::Relaxed);
        let hint = &self.setup()[setup::word::FILE_HINT];
        let start = usize::try_from(hint.get()).unwrap_or(0).min(files.len());
        let (before, after) = files.split_at_checked(start)?;
        for (words, index) in after.iter().zip(start..).chain(before.iter().zip(0..)) {
            let state = &words[word::STATE];
            let Some(claim) = pool::claim_unused(state).or_else(|| pool::claim(state)) else { continue };
            words[word::CLASS].set(class.0.into());
            words[word::ADDRESS].set((self.place(Section::FileInstances).offset + index * FILE) as u64 * 8);
            words[word::BORN].set(claim.version());
            words[word::OPEN_COUNT].set(0);
            // The name first: it may be on another page, of which begin() would only read.
            name.write(words);
            Place::of(words).into_iter().for_each(|place| place.begin(self));
            // [N3] Release: pairs with [N4] of somebody who still has the bucket of an earlier file of this place.
            words[word::REFERENCES].store(1, Ordering::Release);
            hint.set(index as u64 + 1);
            return Some(FileInstance::new(FileId::of(index), words));
        }
        used.fetch_add(u64::MAX, Ordering::Relaxed);
        None
    }

    /// After a fork: the sums of all files start anew. In a child that is idle, whoever was about to open a file or to let one go is gone, other
    /// than a handle. So is who was renaming one: what it is called now nobody knows.
    pub(crate) fn forget_file_io(&self, idle: bool) {
        let files = self.arrays::<FILE>(Section::FileInstances);
        if idle {
            self.unlink_what_is_not_there();
        }
        for (index, words) in files.iter().enumerate() {
            if !pool::was_used(&words[word::STATE]) {
                continue;
            }
            Place::of(words).into_iter().for_each(Place::forget);
            if !idle {
                continue;
            }
            let id = FileId::of(index);
            pool::finish_change(&words[word::STATE], || self.make_gone(id));
            let (references, open) = (words[word::REFERENCES].get(), words[word::OPEN_COUNT].get() & COUNT);
            let is_leaving = pool::live(&words[word::STATE]).is_some() && references & GONE != 0;
            if references & COUNT == 0 && (pool::is_claimed(&words[word::STATE]) || is_leaving) {
                self.give_back(FileInstance::new(id, words));
            } else if references & COUNT > open {
                // One more, given back at once: it may be the last.
                words[word::REFERENCES].set(references & !COUNT | (open + 1));
                self.release_file(id);
            }
        }
        if idle {
            // Others may have been about to count one more, or one less.
            let used = files.iter().filter(|words| !pool::is_free(&words[word::STATE])).count();
            self.setup()[setup::word::FILES_USED].set(used as u64);
        }
    }

    /// OBJECT_NAME of an event: the name that the file has now. None if another file has its place.
    pub(crate) fn event_file_name(&self, event: FileEvent) -> Option<Text<PATH_BYTES>> {
        let file = self.file(FileId(event.name as u32))?;
        pool::read_whole(
            &file.words[word::STATE],
            || file.words[word::BORN].get(),
            || (file.words[word::BORN].get() << 32 == event.name >> 32 << 32).then(|| path_text(file.words)),
        )?
    }

    /// Delivers the files that have a row.
    pub(crate) fn sweep_files<T>(&self, also: impl Fn(&[Word; FILE]) -> Option<T>, mut each: impl FnMut(&Found, T)) -> Sweep {
        let look = |words: &[Word; FILE]| {
            let gone = || words[word::REFERENCES].get() & (GONE | OPENED) != OPENED;
            match pool::read(&words[word::STATE], |_| (Found::load(self, words), also(words), gone())) {
                Look::Live((_, _, true)) => Look::Free,
                Look::Live((found, also, false)) => Look::whole(also.map(|also| (found, also))),
                // Claimed, by somebody who is about to open it.
                Look::Changed if gone() => Look::Free,
                Look::Free => Look::Free,
                Look::Changed => Look::Changed,
            }
        };
        Sweep::over(self.arrays::<FILE>(Section::FileInstances), look, |(found, also)| each(&found, also))
    }

    /// The same, each with its sums as `file_summary_by_instance` shows them.
    pub(crate) fn sweep_file_sums(&self, mut each: impl FnMut(&Found, &IoSummary)) -> Sweep {
        let epoch = FILES.instance_epoch(self).get();
        self.sweep_files(|words| Place::of(words)?.sums(self.patience(), epoch), |found, sums| each(found, &sums))
    }

    /// The same, each with its sums as `events_waits_summary_by_instance` shows them.
    pub(crate) fn sweep_file_waits(&self, mut each: impl FnMut(&Found, &Summary)) -> Sweep {
        let epoch = self.setup()[setup::word::INSTANCE_EPOCH].get();
        self.sweep_files(|words| Place::of(words)?.waits(self.patience(), epoch), |found, sums| each(found, &sums))
    }

    /// TRUNCATE of `file_summary_by_instance`.
    pub(crate) fn truncate_files(&self) {
        setup::next_epoch(FILES.instance_epoch(self));
        self.arrays::<FILE>(Section::FileInstances).iter().filter_map(|words| Place::of(words)).for_each(Place::reset);
    }

    /// TRUNCATE of `events_waits_summary_by_instance`, for files.
    pub(crate) fn truncate_file_waits(&self) {
        self.arrays::<FILE>(Section::FileInstances).iter().filter_map(|words| Place::of(words)).for_each(Place::reset_waits);
    }

    /// The io of an instrument of files, summed over all threads that ever were, since `file_summary_by_event_name` was truncated. Of a
    /// thread that was stopped in the middle of counting, for longer than a reader waits, half an event is taken in.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/io/file/app/index"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// let file = region.refer_to(class, b"/var/lib/app/index");
    /// let io = IoEvent::File(FileEvent::new(file.as_ref(), 0));
    /// // NUMBER_OF_BYTES plus 1.
    /// let start = WaitStart { io, amount: 512 + 1, ..WaitStart::new(Operation::Write) };
    /// let wait = actor.begin(&clock, region.switches(class), class, &start);
    /// actor.end(&clock, wait, Held::File(FileIo { file, group: Operation::Write.group() }));
    /// let io = region.file_summary_by_event_name(class);
    /// assert_eq!((io.total().count, io.group(Group::Read).bytes, io.group(Group::Write).bytes), (1, 0, 512));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn file_summary_by_event_name(&self, class: Class) -> IoSummary {
        FILES.summary_by_event_name(self, class)
    }
}

/// Refers to the file, if it is not gone.
fn refer(words: &[Word; FILE]) -> bool {
    let references = &words[word::REFERENCES];
    let mut seen = references.get();
    // A count of 0 without OPENED is that of a place which was never claimed.
    while seen & GONE == 0 && seen & (OPENED | COUNT) != 0 {
        // [N4] Acquire: pairs with [N3]; who refers to the place's file counts after its sums were set to zero.
        match references.compare_exchange(seen, seen.wrapping_add(1), Ordering::Acquire) {
            Ok(_) => return true,
            Err(now) => seen = now,
        }
    }
    false
}

impl<'r> FileIo<'r> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn counted(&self) -> Counted<'r> {
        Counted { place: self.file.and_then(|file| file.place()), group: self.group }
    }
}

impl<'r> FileInstance<'r> {
    /// The file of an id, given the places of all.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of(places: &'r [[Word; FILE]], id: FileId) -> Option<FileInstance<'r>> {
        places.get(id.place()).map(|words| FileInstance::new(id, words))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(id: FileId, words: &'r [Word; FILE]) -> FileInstance<'r> {
        FileInstance { name: u64::from(id.0) | words[word::BORN].get() << 32, words }
    }

    fn id(&self) -> FileId {
        FileId(self.name as u32)
    }

    /// One more who refers to a file that the caller refers to: a handle is duplicated.
    pub fn refer_again(&self) {
        // Relaxed: the caller's own reference keeps the place.
        self.words[word::REFERENCES].fetch_add(1, Ordering::Relaxed);
    }

    /// The file is open: a handle refers to it. False if one of its path was deleted since the caller came to refer to it: what is open then
    /// is that one, or another of the same path.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
    /// # let class = region.register(InstrumentName::literal("wait/io/file/app/index"), Setting::ON)?;
    /// let file = region.refer_to(class, b"/app/tmp").expect("there is room");
    /// assert!(file.opened());
    /// file.refer_again();
    /// region.file_deleted(b"/app/tmp");
    /// assert!(!file.opened(), "for the second handle");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn opened(&self) -> bool {
        self.words[word::OPEN_COUNT].fetch_add(1, Ordering::Relaxed);
        let references = self.words[word::REFERENCES].get();
        references & (OPENED | GONE) == OPENED || self.opened_first(references)
    }

    #[cold]
    fn opened_first(&self, references: u64) -> bool {
        if references & OPENED == 0 {
            // Whoever opens it first shows it. A rename makes another version, which is left alone.
            pool::publish_claimed(&self.words[word::STATE], self.words[word::BORN].get());
            self.words[word::REFERENCES].update(|references| references | OPENED);
        }
        references & GONE == 0
    }

    /// A handle is closed.
    pub fn closed(&self) {
        self.words[word::OPEN_COUNT].fetch_add(u64::MAX, Ordering::Relaxed);
    }

    /// Where its waits are counted.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn place(&self) -> Option<Place<'r>> {
        Place::of(self.words)
    }
}

/// A file as a reader sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) file_name: Text<PATH_BYTES>,
    pub(crate) event_name: Text<128>,
    pub(crate) open_count: u64,
    pub(crate) address: u64,
}

impl Found {
    fn load(region: &Region<'_>, words: &[Word; FILE]) -> Found {
        Found {
            file_name: path_text(words),
            event_name: region.class_name(Class(words[word::CLASS].get() as u16)),
            open_count: words[word::OPEN_COUNT].get(),
            address: words[word::ADDRESS].get(),
        }
    }
}

/// For models: counts a read as the file's owner, and returns the version of its sums then.
#[cfg(perfschema_loom)]
pub(crate) fn count_as_owner(region: &Region<'_>, id: FileId) -> u64 {
    io::count_as_owner(region.file(id).and_then(|file| file.place()).expect("a place"))
}
