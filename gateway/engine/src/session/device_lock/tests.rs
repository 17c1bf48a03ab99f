//! Device locks: their owners, their folders, and obstacles.

use nix::sys::stat::Mode as NixMode;
use nix::unistd::mkfifo;

use super::*;

#[test]
fn who_has_claimed_a_device_is_known_to_others_until_they_are_done() -> io::Result<()> {
    let dir = tempfile::tempdir()?;
    let other = tempfile::tempdir()?;
    let both = [dir.path().to_owned(), other.path().to_owned()];
    let first = claim(&both, "1.lock")?.expect("nobody else has it");
    let own = std::process::id().to_string();
    for folder in [&both[..1], &both[1..]] {
        assert_eq!(claim(folder, "1.lock")?.expect_err("it is taken"), own);
    }
    drop(first);
    let second = claim(&both[1..], "1.lock")?.expect("it is free");
    // A file that another user has written is not trusted, and not read to its end.
    fs::write(other.path().join("1.lock"), "x".repeat(1 << 20))?;
    assert_eq!(claim(&both, "1.lock")?.expect_err("it is taken"), "unknown");
    drop(second);
    assert!(claim(&both, "1.lock")?.is_ok());
    let mode = fs::metadata(dir.path().join("1.lock"))?
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o660);
    fs::hard_link(dir.path().join("1.lock"), dir.path().join("2.lock"))?;
    assert!(claim(&both, "2.lock").is_err(), "it is another file, too");
    Ok(())
}

#[tokio::test]
async fn who_has_only_just_locked_a_device_is_given_a_moment_to_say_who_he_is() -> io::Result<()> {
    let dir = tempfile::tempdir()?;
    let folders = [dir.path().to_owned()];
    let file = File::create(dir.path().join("1.lock"))?;
    file.lock()?;
    let asked = claimed(&folders, "1.lock");
    let says = async {
        drop(timeout(MOMENT * 2, pending::<()>()).await);
        (&file).write_all(b"4711")
    };
    let (asked, said) = tokio::join!(asked, says);
    said?;
    assert_eq!(asked?.expect_err("it is taken"), "4711");
    // An owner that never records its number is waited for only a short time.
    file.set_len(0)?;
    let asked = claimed(&folders, "1.lock").await?;
    assert_eq!(asked.expect_err("it is taken"), UNKNOWN);
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
fn what_somebody_else_has_put_at_the_name_of_a_lock_holds_nobody_up() -> io::Result<()> {
    let dir = tempfile::tempdir()?;
    let [first, second] = ["first", "second"].map(|name| dir.path().join(name));
    fs::create_dir(&first)?;
    fs::create_dir(&second)?;
    let places = [first.clone(), second.clone()];
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere)?;
    // The folder's name is taken by a link, a file, a pipe: all runs use the next place.
    let taken = first.join("claims");
    std::os::unix::fs::symlink(&elsewhere, &taken)?;
    assert_eq!(folder_in(&places, "claims")?, second.join("claims"));
    fs::remove_file(&taken)?;
    fs::write(&taken, "")?;
    assert_eq!(folder_in(&places, "claims")?, second.join("claims"));
    fs::remove_file(&taken)?;
    mkfifo(&taken, NixMode::S_IRWXU)?;
    assert_eq!(folder_in(&places, "claims")?, second.join("claims"));
    let problem = folder_in(&places[..1], "claims").expect_err("it is taken");
    assert!(problem.to_string().contains("remove it"), "{problem}");
    // The same applies to the name of a lock file.
    let folder = folder_in(&places, "claims")?;
    let secret = dir.path().join("secret");
    fs::write(&secret, "a canary")?;
    std::os::unix::fs::symlink(&secret, folder.join("1.lock"))?;
    let folders = [folder.clone()];
    assert!(claim(&folders, "1.lock").is_err());
    assert_eq!(fs::read_to_string(&secret)?, "a canary");
    mkfifo(&folder.join("2.lock"), NixMode::S_IRWXU)?;
    assert!(claim(&folders, "2.lock").is_err());
    Ok(())
}

#[test]
fn root_keeps_its_claims_where_nobody_else_can_write() {
    assert_eq!(places(Uid::from_raw(0))[0], Path::new("/run"));
    assert_eq!(places(Uid::from_raw(7))[0], Path::new("/run/lock"));
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
