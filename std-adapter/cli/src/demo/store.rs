//! The index on disk: written beside its place, synced, and renamed into it, so that nobody ever finds half an index there.
//!
//! ```text
//! "demoindx"  number of terms  { length, term, number of postings, { document, count } … } …
//! ```
//! All numbers are four bytes, the lowest first.

use super::index::Index;
use perfschema::fs::{File, Fs};
use perfschema::stage::Stage;
use perfschema_demo::Posting;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

static INDEX: Fs = perfschema::fs!("wait/io/file/demo/index");
/// Its units of work are terms.
static STORING: Stage = perfschema::stage!("stage/demo/storing the index");

const MAGIC: &[u8] = b"demoindx";
/// Written at a time.
const BUFFER_BYTES: usize = 64 << 10;
/// How many names are tried for the file beside.
const NAMES: u32 = 64;

/// Writes the index, and says how many bytes that were.
pub(crate) fn write(index: &Index, path: &Path) -> io::Result<u64> {
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file, and it would become one"));
    }
    let (unfinished, file) = create_beside(path)?;
    let result = write_to(index, file).and_then(|bytes| INDEX.rename(&unfinished, path).map(|()| bytes));
    if result.is_err() {
        // What is more wrong than that, the error says.
        let _ = INDEX.remove_file(&unfinished);
    }
    result
}

/// Removes an index that nobody asked for.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    INDEX.remove_file(path)
}

/// Makes a file beside another, hidden and under a name that nothing has: `.NAME.PID.NUMBER`.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"))?;
    let mut number = 0;
    loop {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{number}", std::process::id()));
        let beside = path.with_file_name(hidden);
        match INDEX.create_new(&beside) {
            // What somebody has put there, or a program that has ended has left.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => number += 1,
            result => return result.map(|file| (beside, file)),
        }
    }
}

fn write_to(index: &Index, file: File) -> io::Result<u64> {
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
    let mut bytes = MAGIC.len() as u64;
    out.write_all(MAGIC)?;
    let mut number = |out: &mut BufWriter<_>, number: usize| {
        bytes += 4;
        let number = u32::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        out.write_all(&number.to_le_bytes())
    };
    let mut texts = 0;
    let _stage = STORING.enter();
    STORING.set_work_estimated(index.term_count() as u64);
    number(&mut out, index.term_count())?;
    index.each_term(|term, postings| {
        STORING.add_work_completed(1);
        number(&mut out, term.len())?;
        out.write_all(term.as_bytes())?;
        texts += term.len() as u64;
        number(&mut out, postings.len())?;
        postings.iter().try_for_each(|Posting { document, count }| {
            number(&mut out, *document as usize)?;
            number(&mut out, *count as usize)
        })
    })?;
    out.into_inner()?.sync_all()?;
    Ok(bytes + texts)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::demo::index::Batch;
    use std::collections::BTreeMap;

    /// Reads what was written, in the simplest way.
    fn read(bytes: &[u8]) -> BTreeMap<String, Vec<[u32; 2]>> {
        let mut rest = bytes.strip_prefix(MAGIC).unwrap();
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at(count);
            rest = left;
            taken
        };
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let mut terms = BTreeMap::new();
        for _ in 0..number(take(4)) {
            let len = number(take(4)) as usize;
            let term = String::from_utf8(take(len).to_vec()).unwrap();
            let postings = (0..number(take(4))).map(|_| [number(take(4)), number(take(4))]).collect();
            terms.insert(term, postings);
        }
        assert!(rest.is_empty());
        terms
    }

    #[test]
    fn what_was_written_is_what_was_there() {
        let dir = std::env::temp_dir().join(format!("perfschema-demo-store-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("it.index");
        let index = Index::new();
        let mut batch = Batch::default();
        batch.add(0, "to be, or nicht größer".as_bytes());
        batch.add(3, b"be be");
        index.add(&mut batch, 0);
        // What is beside it is somebody's own.
        let (pid, others) = (std::process::id(), dir.join("it.tmp"));
        std::fs::write(&others, "notes").unwrap();
        let planted = [format!(".it.index.{pid}"), format!(".it.index.{pid}.0")].map(|name| dir.join(name));
        planted.iter().for_each(|planted| std::os::unix::fs::symlink(&others, planted).unwrap());
        let bytes = write(&index, &path).unwrap();
        assert_eq!(std::fs::read(&others).unwrap(), b"notes");
        planted.iter().chain([&others]).for_each(|others| std::fs::remove_file(others).unwrap());
        let written = std::fs::read(&path).unwrap();
        assert_eq!(written.len() as u64, bytes);
        let terms = read(&written);
        assert_eq!(terms.len(), 5);
        assert_eq!(terms["be"], [[0, 1], [3, 2]]);
        assert_eq!(terms["größer"], [[0, 1]]);
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1, "nothing is left beside it");
        // Where nothing can be written, nothing is left.
        assert!(write(&index, &dir.join("none/it.index")).is_err());
        std::fs::create_dir(dir.join("taken.index")).unwrap();
        assert!(write(&index, &dir.join("taken.index")).is_err());
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2);
        remove(&path).unwrap();
        std::fs::remove_dir_all(dir).unwrap();
    }
}
