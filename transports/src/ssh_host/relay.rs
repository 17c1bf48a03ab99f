//! A program on the host that opens connections from there: for datagrams, which SSH does not forward, and where the
//! host's SSH server forwards nothing.
//!
//! The program is one line of Perl or Python, whichever the host has. Nothing is stored on the host. The address is on
//! the program's standard input, so that the process list does not show it.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use russh::Channel;
use russh::client::Msg;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::SshHost;
use crate::error::{ForwardingObstacle, ForwardingRefused, Phase};
use crate::ssh::forwarded::Forwarded;
use crate::{ByteStream, Destination, Error, Result};

/// The command line. It means the same to every login shell: it has no `'`, no `!` and no line end within its quotes.
const COMMAND: &str = r#"exec sh -c 'printf "%s\n" "$0"; IFS= read -r l; IFS= read -r y; t() { "$@" >/dev/null 2>&1 </dev/null; }; if t perl -MSocket=getaddrinfo -e 1; then exec perl -e "$l"; elif t python3 -c "import socket"; then exec python3 -c "$y"; else echo "neither perl nor python3 is installed, or it lacks its module for sockets"; fi'"#;

/// Reads `udp`, `tcp` or `unix`, the host or the path, and the port, one line each. Prints `ok`, or what is wrong behind
/// the name of the obstacle. Then it copies bytes, or datagrams, each behind its length in two bytes. A datagram that
/// nobody received is reported as an empty one. The program ends with its standard input.
const PERL: &str = concat!(
    r#"use Socket qw(:DEFAULT getaddrinfo);binmode STDIN;binmode STDOUT;$SIG{PIPE}="IGNORE";"#,
    r#"sub g{my$n=shift;my$b="";while(length$b<$n){sysread(STDIN,$b,$n-length$b,length$b)or exit}$b}"#,
    r#"sub l{my($b,$c)=("");$b.=$c while($c=g(1))ne"\n";$b}"#,
    r#"sub w{my($f,$b)=@_;while(length$b){my$n=syswrite($f,$b)or exit;substr($b,0,$n)=""}}"#,
    r#"sub e{w(*STDOUT,"@_\n");exit}"#,
    r#"my($k,$h,$p)=(l(),l(),l());my$t=$k eq"udp"?SOCK_DGRAM:SOCK_STREAM;my@a;"#,
    r#"if($k eq"unix"){@a=({family=>AF_UNIX,addr=>pack_sockaddr_un($h)})}"#,
    r#"else{my$e;($e,@a)=getaddrinfo($h,$p,{socktype=>$t});e("name $e")if$e}"#,
    r#"my$s;my$y=0;for(@a){$y=socket($s,$_->{family},$t,0)&&connect($s,$_->{addr})and last}$y or e("connect $!");"#,
    r#"w(*STDOUT,"ok\n");"#,
    r#"if($k ne"udp"){my$c=fork//e("fork $!");my$d;"#,
    r#"if($c){while(sysread(STDIN,$d,65536)){w($s,$d)}kill 9,$c;exit}"#,
    r#"while(sysread($s,$d,65536)){w(*STDOUT,$d)}kill 9,getppid;exit}"#,
    r#"while(1){my$r="";vec($r,0,1)=1;vec($r,fileno$s,1)=1;select($r,undef,undef,undef)>0 or next;"#,
    r#"if(vec($r,fileno$s,1)){my$d="";w(*STDOUT,defined recv($s,$d,65535,0)?pack("n",length$d).$d:"\0\0")}"#,
    r#"if(vec($r,0,1)){my$d=g(unpack("n",g(2)));send($s,$d,0)//w(*STDOUT,"\0\0")}}"#,
    "\n"
);

/// The same in Python.
const PYTHON: &str = concat!(
    r#"exec("import os,socket,select,struct\n"#,
    r#"def g(n):\n b=b''\n while len(b)<n:\n  c=os.read(0,n-len(b))\n  if not c: os._exit(0)\n  b+=c\n return b\n"#,
    r#"def l():\n b=b''\n while 1:\n  c=g(1)\n  if c==b'\\n': return b.decode()\n  b+=c\n"#,
    r#"def w(b):\n while b: b=b[os.write(1,b):]\n"#,
    r#"def e(m):\n w((m+'\\n').encode()); os._exit(0)\n"#,
    r#"k,h,p=l(),l(),l()\nt=socket.SOCK_DGRAM if k=='udp' else socket.SOCK_STREAM\ns=None\nm=''\n"#,
    r#"try:\n a=[(socket.AF_UNIX,t,0,'',h)] if k=='unix' else socket.getaddrinfo(h,int(p),0,t)\n"#,
    r#"except OSError as x: e('name '+str(x))\n"#,
    r#"for i in a:\n try:\n  s=socket.socket(i[0],t); s.connect(i[4]); break\n"#,
    r#" except OSError as x: s=None; m=x.strerror or str(x)\n"#,
    r#"if not s: e('connect '+m)\n"#,
    r#"w(b'ok\\n')\n"#,
    r#"while 1:\n for f in select.select([0,s],[],[])[0]:\n  if k=='udp':\n   try:\n"#,
    r#"    if f==0: s.send(g(struct.unpack('!H',g(2))[0]))\n"#,
    r#"    else:\n     d=s.recv(65535); w(struct.pack('!H',len(d))+d)\n   except OSError: w(b'\\0\\0')\n"#,
    r#"  else:\n   try:\n    d=os.read(0,65536) if f==0 else s.recv(65536)\n"#,
    r#"    if not d: os._exit(0)\n    s.sendall(d) if f==0 else w(d)\n   except OSError: os._exit(0)\n")"#,
    "\n"
);

/// The longest line of the program. Of a longer one, which only a login shell prints, the end is read.
const LONGEST: usize = 1024;

/// The program on a host. It has not been told where to connect yet.
pub struct Relay {
    channel: Channel<Msg>,
    mark: String,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").finish_non_exhaustive()
    }
}

impl SshHost {
    /// Starts the program, which takes a session of the host.
    ///
    /// # Errors
    /// Fails as [`exec`](Self::exec).
    pub async fn start_relay(&self, deadline: Instant) -> Result<Relay> {
        // The login shell may print something before the program does.
        let mark = Uuid::new_v4().simple().to_string();
        let command = format!("{COMMAND} {mark}");
        let channel = self.ssh.program(&command, deadline).await?;
        self.has_run_program.store(true, Ordering::Relaxed);
        Ok(Relay { channel, mark })
    }

    /// Connects to another place through the program. The stream is as the [`Destination`] describes it, and keeps `guard`
    /// until it is dropped.
    ///
    /// # Errors
    /// Fails with [`Error::ForwardingRefused`] if the program cannot run or cannot connect, and with
    /// [`Error::TimedOut`].
    pub async fn relay(
        self: &Arc<Self>,
        relay: Relay,
        guard: impl Any + Send + Sync,
        to: Destination<'_>,
        deadline: Instant,
    ) -> Result<Box<dyn ByteStream>> {
        let Relay { channel, mark } = relay;
        let mut stream = Forwarded::new(channel, Arc::new((Arc::clone(self), guard)));
        let starting = async {
            let lines = match to {
                Destination::Tcp { host, port } => format!("tcp\n{host}\n{port}\n"),
                Destination::Udp { host, port } => format!("udp\n{host}\n{port}\n"),
                Destination::Unix(path) => format!("unix\n{}\n\n", path.display()),
            };
            let input = format!("{PERL}{PYTHON}{lines}");
            stream.write_all(input.as_bytes()).await?;
            stream.flush().await?;
            while !line(&mut stream).await?.ends_with(&mark) {}
            line(&mut stream).await
        };
        let limit = deadline.saturating_duration_since(Instant::now());
        match timeout_at(deadline, starting).await {
            Ok(Ok(said)) if said == "ok" => Ok(Box::new(stream)),
            Ok(Ok(said)) => Err(self.no_relay(to, said)),
            Ok(Err(error)) => Err(self.no_relay(to, no_answer(&error))),
            Err(_) => Err(Error::TimedOut {
                peer: to.to_string(),
                phase: Phase::Connection,
                limit,
                hint: format!(
                    ", asked of a program on {}: check `host` and `port`, and what filters the way from there",
                    self.peer()
                ),
            }),
        }
    }

    fn no_relay(&self, to: Destination<'_>, said: String) -> Error {
        let (obstacle, message) = match said.split_once(' ') {
            Some(("connect" | "name", message)) => {
                (ForwardingObstacle::ConnectFailed, message.to_owned())
            }
            _ => (ForwardingObstacle::NoRelay, said),
        };
        Error::ForwardingRefused(Box::new(ForwardingRefused {
            proxy: None,
            peer: to.to_string(),
            via: self.peer().to_owned(),
            obstacle,
            message,
        }))
    }
}

/// Returns why the program has not answered.
fn no_answer(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "the program ended before it answered".to_owned(),
        _ => error.to_string(),
    }
}

/// Reads a line, without its end.
async fn line(stream: &mut Forwarded) -> std::io::Result<String> {
    let mut line = Vec::new();
    loop {
        match stream.read_u8().await? {
            b'\n' => return Ok(String::from_utf8_lossy(&line).into_owned()),
            byte => {
                if line.len() == LONGEST {
                    drop(line.drain(..LONGEST / 2));
                }
                line.push(byte);
            }
        }
    }
}
