# Carries the connections of a Unix socket over standard input and output. It ends, and removes the socket, when its
# input ends. `frames.rs` describes the frames. relay.py is the same program in Python.
use strict;
use warnings;
use Errno;
use Socket;

my ($CHUNK, $WINDOW, $MOST, $PATIENCE) = (32768, 65536, 64, 5);
my $path = shift;
my %client;
my ($next, $input) = (0, "");

sub leave { unlink $path; exit }

sub send_frame {
    my ($kind, $id, $size, $bytes) = @_;
    my $frame = pack("aNN", $kind, $id, $size) . $bytes;
    while (length $frame) {
        my $written = syswrite STDOUT, $frame;
        if (defined $written) { substr($frame, 0, $written) = "" }
        elsif (!$!{EINTR}) { leave() }
    }
}

sub close_client {
    my ($id, $tell) = @_;
    close $client{$id}{socket};
    delete $client{$id};
    send_frame("e", $id, 0, "") if $tell;
}

# Handles a frame of devgate.
sub take {
    my ($kind, $id, $size, $bytes) = @_;
    my $client = $client{$id} or return;
    if ($kind eq "d") { $client->{out} .= $bytes }
    elsif ($kind eq "a") { $client->{credit} += $size }
    elsif ($kind eq "e") { $client->{until} = time + $PATIENCE }
}

sub read_frames {
    my $read = sysread STDIN, $input, $CHUNK, length $input;
    leave() if defined $read ? !$read : !$!{EINTR};
    while (length $input >= 9) {
        my ($kind, $id, $size) = unpack "aNN", $input;
        my $length = $kind eq "d" ? $size : 0;
        last if length $input < 9 + $length;
        take($kind, $id, $size, substr $input, 9, $length);
        substr($input, 0, 9 + $length) = "";
    }
}

sub accept_client {
    accept(my $socket, LISTENER) or return;
    $next = ($next + 1) % 2**32;
    $client{$next} = { socket => $socket, out => "", credit => $WINDOW };
    send_frame("o", $next, 0, "");
}

sub read_client {
    my $id = shift;
    my $client = $client{$id};
    my $bytes = "";
    my $most = $client->{credit} < $CHUNK ? $client->{credit} : $CHUNK;
    my $read = sysread $client->{socket}, $bytes, $most;
    if ($read) {
        $client->{credit} -= $read;
        send_frame("d", $id, $read, $bytes);
    }
    elsif (defined $read || !$!{EINTR}) { close_client($id, !$client->{until}) }
}

sub write_client {
    my $id = shift;
    my $client = $client{$id};
    my $sent = send $client->{socket}, substr($client->{out}, 0, $CHUNK), MSG_DONTWAIT;
    if (defined $sent) {
        substr($client->{out}, 0, $sent) = "";
        send_frame("a", $id, $sent, "");
    }
    elsif (!$!{EAGAIN} && !$!{EINTR}) { close_client($id, !$client->{until}) }
}

$SIG{PIPE} = "IGNORE";
$SIG{$_} = \&leave for qw(HUP INT TERM);
binmode STDIN;
binmode STDOUT;
umask 077;
my $fault =
    length $path > 103 ? "$path: the path is too long for a socket"
    : socket(LISTENER, PF_UNIX, SOCK_STREAM, 0) && bind(LISTENER, pack_sockaddr_un($path)) && listen(LISTENER, 1024)
    ? "" : "$path: $!";
syswrite STDOUT, $fault eq "" ? "ready\n" : "$fault\n";
exit 1 if $fault ne "";
while (1) {
    my ($reading, $writing, $limit) = ("", "");
    vec($reading, fileno STDIN, 1) = 1;
    vec($reading, fileno LISTENER, 1) = 1 if keys %client < $MOST;
    for my $id (keys %client) {
        my $client = $client{$id};
        my $file = fileno $client->{socket};
        if (my $until = $client->{until}) {
            if ($client->{out} eq "" || time >= $until) { close_client($id, 0); next }
            $limit = 1;
        }
        elsif ($client->{credit} > 0) { vec($reading, $file, 1) = 1 }
        vec($writing, $file, 1) = 1 if $client->{out} ne "";
    }
    select($reading, $writing, undef, $limit) > 0 or next;
    read_frames() if vec $reading, fileno STDIN, 1;
    accept_client() if vec $reading, fileno LISTENER, 1;
    for my $id (keys %client) {
        my $file = fileno $client{$id}{socket};
        write_client($id) if vec $writing, $file, 1;
        read_client($id) if $client{$id} && vec $reading, $file, 1;
    }
}
