//! Device locks: their owners, their folders, and obstacles.

use nix::sys::stat::Mode as NixMode;
use nix::unistd::mkfifo;

use super::*;

#[test]
fn the_owner_of_a_lock_is_known_to_others_until_it_is_released() -> io::Result<()> {
    let dir = tempfile::tempdir()?;
    let other = tempfile::tempdir()?;
    let both = [dir.path().to_owned(), other.path().to_owned()];
    let first = lock_files(&both, "1.lock")?.expect("nobody else has it");
    let own = std::process::id().to_string();
    for folder in [&both[..1], &both[1..]] {
        assert_eq!(lock_files(folder, "1.lock")?.expect_err("it is taken"), own);
    }
    drop(first);
    let second = lock_files(&both[1..], "1.lock")?.expect("it is free");
    // A file that another user has written is not trusted, and not read to its end.
    fs::write(other.path().join("1.lock"), "x".repeat(1 << 20))?;
    assert_eq!(
        lock_files(&both, "1.lock")?.expect_err("it is taken"),
        "unknown"
    );
    drop(second);
    assert!(lock_files(&both, "1.lock")?.is_ok());
    let mode = fs::metadata(dir.path().join("1.lock"))?
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o660);
    fs::hard_link(dir.path().join("1.lock"), dir.path().join("2.lock"))?;
    assert!(
        lock_files(&both, "2.lock").is_err(),
        "it is another file, too"
    );
    Ok(())
}

#[tokio::test]
async fn an_owner_that_has_just_locked_a_device_may_record_its_number_late() -> io::Result<()> {
    let dir = tempfile::tempdir()?;
    let folders = [dir.path().to_owned()];
    let file = File::create(dir.path().join("1.lock"))?;
    file.lock()?;
    let locked = lock_files_or_read_owner(&folders, "1.lock");
    let record = async {
        drop(timeout(OWNER_READ_DELAY * 2, pending::<()>()).await);
        (&file).write_all(b"4711")
    };
    let (locked, recorded) = tokio::join!(locked, record);
    recorded?;
    assert_eq!(locked?.expect_err("it is taken"), "4711");
    // An owner that never records its number is waited for only a short time.
    file.set_len(0)?;
    let locked = lock_files_or_read_owner(&folders, "1.lock").await?;
    assert_eq!(locked.expect_err("it is taken"), UNKNOWN);
    Ok(())
}

#[test]
fn a_folder_that_others_can_write_in_is_not_trusted() -> io::Result<()> {
    let dir = tempfile::tempdir()?;
    let open = dir.path().join("open");
    fs::create_dir(&open)?;
    fs::set_permissions(&open, Permissions::from_mode(0o777))?;
    assert!(private_folder(open).is_err());
    assert!(private_folder(dir.path().join("new")).is_ok());
    assert!(private_folder(dir.path().join("new")).is_ok());
    Ok(())
}

#[test]
fn obstacles_at_the_path_of_a_lock_block_nobody() -> io::Result<()> {
    let dir = tempfile::tempdir()?;
    let [first, second] = ["first", "second"].map(|name| dir.path().join(name));
    fs::create_dir(&first)?;
    fs::create_dir(&second)?;
    let base_folders = [first.clone(), second.clone()];
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere)?;
    // The folder's name is taken by a link, a file, a pipe: all runs use the next folder.
    let taken = first.join("claims");
    std::os::unix::fs::symlink(&elsewhere, &taken)?;
    assert_eq!(folder_in(&base_folders, "claims")?, second.join("claims"));
    fs::remove_file(&taken)?;
    fs::write(&taken, "")?;
    assert_eq!(folder_in(&base_folders, "claims")?, second.join("claims"));
    fs::remove_file(&taken)?;
    mkfifo(&taken, NixMode::S_IRWXU)?;
    assert_eq!(folder_in(&base_folders, "claims")?, second.join("claims"));
    let problem = folder_in(&base_folders[..1], "claims").expect_err("it is taken");
    assert!(problem.to_string().contains("remove it"), "{problem}");
    // The same applies to the name of a lock file.
    let folder = folder_in(&base_folders, "claims")?;
    let secret = dir.path().join("secret");
    fs::write(&secret, "a canary")?;
    std::os::unix::fs::symlink(&secret, folder.join("1.lock"))?;
    let folders = [folder.clone()];
    assert!(lock_files(&folders, "1.lock").is_err());
    assert_eq!(fs::read_to_string(&secret)?, "a canary");
    mkfifo(&folder.join("2.lock"), NixMode::S_IRWXU)?;
    assert!(lock_files(&folders, "2.lock").is_err());
    Ok(())
}

#[test]
fn root_keeps_its_claims_where_nobody_else_can_write() {
    assert_eq!(base_folders(Uid::from_raw(0))[0], Path::new("/run"));
    assert_eq!(base_folders(Uid::from_raw(7))[0], Path::new("/run/lock"));
}

#[test]
fn a_group_s_folder_is_taken_where_nobody_else_may_write() -> io::Result<()> {
    let dir = tempfile::tempdir()?;
    let (folder, own) = (dir.path().join("devgate"), Uid::effective());
    assert!(!is_shared(&folder, own), "it is not there");
    fs::create_dir(&folder)?;
    for (mode, expected) in [
        (0o755, false),
        (0o770, false),
        (0o2770, true),
        (0o2777, false),
    ] {
        fs::set_permissions(&folder, Permissions::from_mode(mode))?;
        assert_eq!(is_shared(&folder, own), expected, "{mode:o}");
    }
    let another = Uid::from_raw(own.as_raw() + 1);
    fs::set_permissions(&folder, Permissions::from_mode(0o2770))?;
    assert!(!is_shared(&folder, another));
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&folder, &link)?;
    assert!(!is_shared(&link, own));
    Ok(())
}

#[test]
fn how_to_wait_is_said_in_a_word() {
    assert_eq!("refuse".parse(), Ok(BusyPolicy::Refuse));
    assert_eq!("wait".parse(), Ok(BusyPolicy::Wait(WAIT)));
    assert_eq!(
        "wait=7".parse(),
        Ok(BusyPolicy::Wait(Duration::from_secs(7)))
    );
    assert!("wait=x".parse::<BusyPolicy>().is_err() && "now".parse::<BusyPolicy>().is_err());
}
