//! The files to be indexed.

use perfschema::fs::Fs;
use perfschema_demo::DocumentId;
use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Folders whose content nobody searches.
const SKIPPED_FOLDERS: [&str; 2] = [".git", "target"];
/// A file with a NUL among its first bytes is not text.
const PROBE_BYTES: usize = 1024;
/// Larger files are not indexed; each worker holds one file in memory.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// How much a worker takes from the queue at a time: large enough that locks are taken seldom, small enough that the last one to
/// finish keeps nobody waiting for long.
const JOB_BYTES: u64 = 128 << 10;

/// The files themselves.
static FILES: Fs = perfschema::fs!("wait/io/file/demo/corpus");

/// Documents that one worker indexes at a time.
pub(crate) type Job = Range<DocumentId>;

/// A file that is to be looked at.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    pub(crate) size_bytes: u64,
}

/// All files below a folder, in the order of their paths, so that every run numbers them alike.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    pub(crate) documents: Vec<Document>,
    /// Folders and files that could not be looked at.
    pub(crate) unreadable: u64,
    /// Files above the limit.
    pub(crate) too_large: u64,
}

impl Corpus {
    /// Walks the folder. Symbolic links are not followed: what they lead to is found elsewhere, or not below the folder.
    pub(crate) fn below(folder: &Path) -> Corpus {
        let mut corpus = Corpus::default();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            if corpus.add_folder(&folder, &mut folders).is_err() {
                corpus.unreadable += 1;
            }
        }
        corpus.documents.sort_by(|a, b| a.path.cmp(&b.path));
        corpus
    }

    fn add_folder(&mut self, folder: &Path, folders: &mut Vec<PathBuf>) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() && !SKIPPED_FOLDERS.iter().any(|name| entry.file_name() == *name) {
                folders.push(entry.path());
            } else if kind.is_file() {
                match entry.metadata() {
                    Ok(metadata) if metadata.len() > FILE_BYTES_MAX => self.too_large += 1,
                    Ok(metadata) => self.documents.push(Document { path: entry.path(), size_bytes: metadata.len() }),
                    Err(_) => self.unreadable += 1,
                }
            }
        }
        Ok(())
    }

    /// The sizes of all documents together.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.documents.iter().map(|document| document.size_bytes).sum()
    }

    /// All documents, divided into jobs.
    pub(crate) fn jobs(&self) -> Vec<Job> {
        let mut jobs: Vec<Job> = Vec::new();
        let mut job_bytes = u64::MAX;
        for (id, document) in (0..).zip(&self.documents) {
            match jobs.last_mut() {
                Some(job) if job_bytes.saturating_add(document.size_bytes) <= JOB_BYTES => {
                    job.end = id + 1;
                    job_bytes += document.size_bytes;
                }
                _ => {
                    jobs.push(id..id + 1);
                    job_bytes = document.size_bytes;
                }
            }
        }
        jobs
    }
}

/// The files' contents, one after the other, in memory that is taken once. (`Read::take` and `read_to_end` would write zeros there before
/// each file: std spares itself that only of files that are its own.)
#[derive(Debug, Default)]
pub(crate) struct Contents {
    buffer: Vec<u8>,
}

impl Contents {
    /// What is in a file, as far as it went when it was found; None if that is not text.
    pub(crate) fn read(&mut self, document: &Document) -> io::Result<Option<&[u8]>> {
        let len = document.size_bytes.min(FILE_BYTES_MAX) as usize;
        if self.buffer.len() < len {
            self.buffer.resize(len, 0);
        }
        let content = &mut self.buffer[..len];
        let mut file = FILES.open(&document.path)?;
        let mut read = fill(&mut file, &mut content[..len.min(PROBE_BYTES)])?;
        if content[..read].contains(&0) {
            return Ok(None);
        }
        read += fill(&mut file, &mut content[read..])?;
        Ok(Some(&content[..read]))
    }
}

/// Reads until the buffer is full or the file ends. Returns how many bytes it read.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(sizes: &[u64]) -> Corpus {
        let documents = sizes.iter().map(|&size_bytes| Document { path: PathBuf::new(), size_bytes }).collect();
        Corpus { documents, ..Corpus::default() }
    }

    #[track_caller]
    fn check_jobs(sizes: &[u64], expected: &[(DocumentId, DocumentId)]) {
        let jobs: Vec<_> = corpus(sizes).jobs().into_iter().map(|job| (job.start, job.end)).collect();
        assert_eq!(jobs, expected);
    }

    #[test]
    fn jobs_are_of_one_size_if_files_allow() {
        check_jobs(&[], &[]);
        check_jobs(&[1, 2, 3], &[(0, 3)]);
        check_jobs(&[JOB_BYTES, 1], &[(0, 1), (1, 2)]);
        check_jobs(&[JOB_BYTES - 1, 1, 1], &[(0, 2), (2, 3)]);
        check_jobs(&[5 * JOB_BYTES, 0, 1, u64::MAX, 2], &[(0, 1), (1, 3), (3, 4), (4, 5)]);
    }
}
