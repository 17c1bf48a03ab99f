//! Reading whole files and streams, with a size limit, and with a message when reading blocks.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Read};
use std::iter;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The maximum number of bytes read from a file or from standard input: the same as for a PXP request.
pub const MAX_SIZE: usize = 64 << 20;

/// The time of silence after which a message says that a pipe is waited for.
const WARN_AFTER: Duration = Duration::from_secs(2);

/// Reads the bytes of a file. A pipe, such as a shell's `<(…)`, is read to its end.
///
/// # Errors
/// Fails with the system's error, or when the file exceeds the limit.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    bytes_of(open(path)?)
}

/// Reads a file as text.
///
/// # Errors
/// Fails as `bytes` does, and when the file is not UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    text_of(open(path)?)
}

/// Reads a stream, such as standard input, to its end.
///
/// # Errors
/// Fails as `bytes` does.
pub fn bytes_of(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_SIZE as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() {
        ..=MAX_SIZE => Ok(bytes),
        _ => Err(too_large()),
    }
}

/// Reads a stream to its end, as text.
///
/// # Errors
/// Fails as [`text`] does.
pub fn text_of(from: impl Read) -> io::Result<String> {
    String::from_utf8(bytes_of(from)?).map_err(|_| {
        let message = "stream did not contain valid UTF-8";
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

/// Iterates over lines as they arrive. The limit for a file applies to each line.
pub fn lines(mut from: impl BufRead) -> impl Iterator<Item = io::Result<String>> {
    iter::from_fn(move || line(&mut from).transpose())
}

/// Returns the next line without its end, or `None` at the end.
fn line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    if from.take(MAX_SIZE as u64 + 1).read_line(&mut line)? == 0 {
        return Ok(None);
    }
    if line.len() > MAX_SIZE {
        return Err(too_large());
    }
    if line.ends_with('\n') {
        line.pop();
        if line.ends_with('\r') {
            line.pop();
        }
    }
    Ok(Some(line))
}

/// Returns the error for input that exceeds the limit.
pub fn too_large() -> io::Error {
    let message = format!(
        "it is larger than {} MiB, which is the most that is read: give less",
        MAX_SIZE >> 20
    );
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Opens a file for reading. For a pipe, waits until it has data.
fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.file_type().is_fifo() {
        return File::open(path);
    }
    let mut options = OpenOptions::new();
    // Otherwise `open` blocks until there is a writer, without any message.
    options.custom_flags(OFlag::O_NONBLOCK.bits());
    let pipe = options.read(true).open(path)?;
    if !is_readable(
        &pipe,
        PollTimeout::try_from(WARN_AFTER).unwrap_or(PollTimeout::MAX),
    )? {
        tracing::warn!(
            "waiting for somebody to write into {}, which is a pipe",
            path.display()
        );
        while !is_readable(&pipe, PollTimeout::NONE)? {}
    }
    fcntl(&pipe, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(pipe)
}

/// Returns whether a pipe has data, or is at its end, within this time.
fn is_readable(pipe: &File, limit: PollTimeout) -> io::Result<bool> {
    let mut pipes = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    match poll(&mut pipes, limit) {
        Ok(ready) => Ok(ready > 0),
        // A signal, which is handled elsewhere.
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn endless_input_is_read_up_to_the_limit() {
        let error = bytes(Path::new("/dev/zero")).expect_err("it has no end");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("64 MiB"), "{error}");
        let most = io::repeat(b'x').take(MAX_SIZE as u64);
        assert_eq!(text_of(most).expect("it is no more").len(), MAX_SIZE);
        let endless = io::BufReader::new(io::repeat(b'x'));
        let line = lines(endless).next().expect("there is one");
        let error = line.expect_err("it has no end");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let read: io::Result<Vec<String>> = lines(&b"a\r\n\nb"[..]).collect();
        assert_eq!(read.expect("it is text"), ["a", "", "b"]);
    }

    #[test]
    fn a_pipe_is_read_to_its_end_whenever_somebody_writes_into_it() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let pipe = folder.path().join("pipe");
        mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR)?;
        let reader = {
            let pipe = pipe.clone();
            thread::spawn(move || text(&pipe))
        };
        fs::write(&pipe, "a text")?;
        let read = reader.join().expect("reading does not panic")?;
        assert_eq!(read, "a text");
        Ok(())
    }
}
