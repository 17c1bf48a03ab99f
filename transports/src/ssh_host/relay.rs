//! A program on the host that relays datagrams, because SSH forwards none.
//!
//! The program is one line of Perl or Python, whichever the host has. Nothing is stored on the host. The address is on
//! the program's standard input, so that the process list does not show it.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::SshHost;
use crate::error::{ForwardingObstacle, ForwardingRefused, Phase};
use crate::ssh::forwarded::Forwarded;
use crate::{ByteStream, Error, Result, tcp};

/// The command line. It means the same to every login shell: it has no `'`, no `!` and no line end within its quotes.
const COMMAND: &str = r#"exec sh -c 'printf "%s\n" "$0"; IFS= read -r l; IFS= read -r y; if command -v perl >/dev/null 2>&1; then exec perl -e "$l"; elif command -v python3 >/dev/null 2>&1; then exec python3 -c "$y"; else echo "neither perl nor python3 is installed"; fi'"#;

/// Reads the host and the port, one line each, and prints `ok` or what is wrong. Then datagrams follow in both
/// directions, each behind its length in two bytes. A datagram that nobody received is reported as an empty one.
const PERL: &str = concat!(
    r#"use Socket qw(:DEFAULT getaddrinfo);binmode STDIN;binmode STDOUT;"#,
    r#"sub g{my$n=shift;my$b="";while(length$b<$n){sysread(STDIN,$b,$n-length$b,length$b)or exit}$b}"#,
    r#"sub l{my($b,$c)=("");$b.=$c while($c=g(1))ne"\n";$b}"#,
    r#"sub w{my$b=shift;while(length$b){my$n=syswrite(STDOUT,$b)or exit;substr($b,0,$n)=""}}"#,
    r#"sub e{w("@_\n");exit}"#,
    r#"my($h,$p)=(l(),l());my($e,@a)=getaddrinfo($h,$p,{socktype=>SOCK_DGRAM});e("$e")if$e;"#,
    r#"my$s;socket($s,$a[0]{family},SOCK_DGRAM,0)&&connect($s,$a[0]{addr})or e("$!");w("ok\n");"#,
    r#"while(1){my$r="";vec($r,0,1)=1;vec($r,fileno$s,1)=1;select($r,undef,undef,undef)>0 or next;"#,
    r#"if(vec($r,fileno$s,1)){my$d="";w(defined recv($s,$d,65535,0)?pack("n",length$d).$d:"\0\0")}"#,
    r#"if(vec($r,0,1)){my$d=g(unpack("n",g(2)));send($s,$d,0)//w("\0\0")}}"#,
    "\n"
);

/// The same in Python.
const PYTHON: &str = concat!(
    r#"exec("import os,socket,select,struct\n"#,
    r#"def g(n):\n b=b''\n while len(b)<n:\n  c=os.read(0,n-len(b))\n  if not c: os._exit(0)\n  b+=c\n return b\n"#,
    r#"def l():\n b=b''\n while 1:\n  c=g(1)\n  if c==b'\\n': return b.decode()\n  b+=c\n"#,
    r#"def w(b):\n while b: b=b[os.write(1,b):]\n"#,
    r#"h,p=l(),l()\n"#,
    r#"try:\n a=socket.getaddrinfo(h,int(p),0,socket.SOCK_DGRAM)[0]\n s=socket.socket(a[0],a[1]); s.connect(a[4])\n"#,
    r#"except OSError as e:\n w((str(e)+'\\n').encode()); os._exit(0)\n"#,
    r#"w(b'ok\\n')\n"#,
    r#"while 1:\n for f in select.select([0,s],[],[])[0]:\n  try:\n   if f==0:\n    d=g(struct.unpack('!H',g(2))[0]); s.send(d)\n"#,
    r#"   else:\n    d=s.recv(65535); w(struct.pack('!H',len(d))+d)\n  except OSError: w(b'\\0\\0')\n")"#,
    "\n"
);

/// The longest first line of the program.
const LONGEST: usize = 1024;

impl SshHost {
    /// Starts the program. The stream is as [`Destination::Udp`] describes it.
    ///
    /// # Errors
    /// Fails with [`Error::NoMoreSessions`] if the connection carries too many programs, and with [`Error::ForwardingRefused`]
    /// if the host cannot relay datagrams.
    pub(super) async fn relay(
        self: &Arc<Self>,
        host: &str,
        port: u16,
        deadline: Instant,
    ) -> Result<Box<dyn ByteStream>> {
        // The login shell may print something before the program does.
        let mark = Uuid::new_v4().simple().to_string();
        let channel = self
            .ssh
            .program(&format!("{COMMAND} {mark}"), deadline)
            .await?;
        let mut stream = Forwarded::new(channel, Arc::clone(self) as _);
        let starting = async {
            let input = format!("{PERL}{PYTHON}{host}\n{port}\n");
            stream.write_all(input.as_bytes()).await?;
            stream.flush().await?;
            while !line(&mut stream).await?.ends_with(&mark) {}
            line(&mut stream).await
        };
        let limit = deadline.saturating_duration_since(Instant::now());
        match timeout_at(deadline, starting).await {
            Ok(Ok(said)) if said == "ok" => Ok(Box::new(stream)),
            Ok(Ok(said)) => Err(self.no_relay(host, port, said)),
            Ok(Err(error)) => Err(self.no_relay(host, port, error.to_string())),
            Err(_) => Err(Error::TimedOut {
                peer: self.peer().to_owned(),
                phase: Phase::Channel,
                limit,
                hint: ": it starts no program that relays datagrams".to_owned(),
            }),
        }
    }

    fn no_relay(&self, host: &str, port: u16, said: String) -> Error {
        Error::ForwardingRefused(Box::new(ForwardingRefused {
            peer: tcp::peer(host, port),
            via: self.peer().to_owned(),
            obstacle: ForwardingObstacle::NoRelay,
            message: said,
        }))
    }
}

/// Reads a line, without its end.
async fn line(stream: &mut Forwarded) -> std::io::Result<String> {
    let mut line = Vec::new();
    loop {
        match stream.read_u8().await? {
            b'\n' => return Ok(String::from_utf8_lossy(&line).into_owned()),
            _ if line.len() == LONGEST => return Err(std::io::ErrorKind::InvalidData.into()),
            byte => line.push(byte),
        }
    }
}
