#!/usr/bin/env perl
# The devgate of a task on a proxy: `devgate session exec`, `get` and `set` in the session that DEVGATE_SESSION names. It
# sends requests of the session protocol and nothing else. devgate.py is the same program in Python.
use strict;
use warnings;
use Socket;

my $LARGEST = 64 << 20;
my @given = @ARGV;
my $wire;

sub fail { my $text = "@_"; $text =~ s/[\x00-\x08\x0b-\x1f\x7f]/?/g; print STDERR "error: $text\n"; exit 1 }

# ---- JSON, of which a minimal Perl has no module ----

my $bad = sub { fail("the session's protocol: an answer is a JSON object on one line") };

sub quoted { my $text = shift; $text =~ s/([\x00-\x1f"\\])/sprintf '\\u%04x', ord $1/ge; "\"$text\"" }

sub unquoted {
    my $text = substr shift, 1, -1;
    my %short = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");
    my $character = sub { my $c = chr shift; utf8::encode($c); $c };
    $text =~ s/\\u[dD]([89abAB]..)\\u[dD]([c-fC-F]..)|\\u(....)|\\(.)/
        defined $1 ? $character->(0x10000 + ((hex("d$1") - 0xd800) << 10) + hex("d$2") - 0xdc00)
        : defined $3 ? $character->(hex $3) : exists $short{$4} ? $short{$4} : $4/gse;
    $text;
}

# The next string at the position of a text, as it is written; undef if there is none.
sub next_string {
    my $json = shift;
    my $from = pos($$json) || 0;
    $$json =~ /\G"/gc or return;
    1 while $$json =~ /\G[^"\\\x00-\x1f]+/gc || $$json =~ /\G\\(?:["\\\/bfnrt]|u[0-9a-fA-F]{4})/gc;
    $$json =~ /\G"/gc or return;
    substr $$json, $from, pos($$json) - $from;
}

# The next value at the position of a text, with line ends and indents; undef if it is not JSON.
sub next_value {
    my ($json, $indent) = @_;
    $$json =~ /\G[ \t\r\n]+/gc;
    return next_string($json) if $$json =~ /\G(?=")/gc;
    return $1 if $$json =~ /\G(true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)/gc;
    $$json =~ /\G([\[{])[ \t\r\n]*/gc or return;
    my ($open, $close) = ($1, $1 eq "[" ? "]" : "}");
    return "$open$close" if $$json =~ /\G\Q$close\E/gc;
    my ($text, $inner) = ($open, "$indent  ");
    while (1) {
        $$json =~ /\G[ \t\r\n]+/gc;
        $text .= "\n$inner";
        if ($open eq "{") {
            my $key = next_string($json);
            defined $key && $$json =~ /\G[ \t\r\n]*:/gc or return;
            $text .= "$key: ";
        }
        my $value = next_value($json, $inner);
        defined $value or return;
        $text .= $value;
        $$json =~ /\G[ \t\r\n]*([,\]}])/gc or return;
        return "$text\n$indent$close" if $1 eq $close;
        $1 eq "," or return;
        $text .= ",";
    }
}

# The members of an object: their names and their texts.
sub members {
    my $json = shift;
    my %member;
    $$json =~ /\G\{/gc or $bad->();
    until ($$json =~ /\G\}/gc) {
        my $key = next_string($json);
        defined $key && $$json =~ /\G:[ ]?/gc or $bad->();
        my $value = next_value($json, "");
        defined $value or $bad->();
        $member{unquoted($key)} = $value;
        $$json =~ /\G,?[ \t\r\n]*/gc;
    }
    \%member;
}

sub is_json {
    my $json = shift;
    my $value = next_value(\$json, "");
    defined $value && $json =~ /\G[ \t\r\n]*\z/gc && $value !~ /^"/;
}

# ---- the session ----

sub ask {
    my $request = shift;
    if (!$wire) {
        my $path = $ENV{DEVGATE_SESSION};
        defined $path or fail("there is no shared session: DEVGATE_SESSION is not set");
        $SIG{PIPE} = "IGNORE";
        socket($wire, PF_UNIX, SOCK_STREAM, 0) && connect($wire, pack_sockaddr_un($path))
            or fail("the session of DEVGATE_SESSION does not exist any more ($path: $!): it ends with its task or program");
    }
    $request = "{\"version\":1,$request}\n";
    while (length $request) {
        my $sent = syswrite $wire, $request;
        defined $sent or last; # The answer may say why.
        substr($request, 0, $sent) = "";
    }
    my $line = <$wire>;
    defined $line && $line =~ s/\n\z//
        or fail("the gateway ended the session before it answered: whether the request reached the device is not known");
    my $answer = members(\$line);
    ($answer->{version} // "") eq "1" or fail("the session's protocol: `version`: 1 is missing in the message");
    if (my $error = $answer->{_error}) {
        $error =~ s/\n *//g; # The line ends of `next_value`.
        fail(unquoted(members(\$error)->{msg} // $bad->()));
    }
    $answer;
}

sub show { my $text = shift; $text .= "\n" if $text ne "" && $text !~ /\n\z/; print $text }

sub show_document {
    my $answer = shift;
    show(defined $answer->{text} ? unquoted($answer->{text}) : $answer->{data} // $bad->());
}

sub hidden { "(" . length(shift) . " bytes, not shown: the secrets in it are not known here)" }

sub read_input {
    my $size = read STDIN, my $text, $LARGEST + 1;
    defined $size or fail("cannot read stdin: $!");
    $size <= $LARGEST or fail("cannot read stdin: it has more than 64 MiB");
    $text;
}

sub lines_of { my $text = shift; $text =~ s/\r?\n\z//; split /\r?\n/, $text, -1 }

# ---- the commands ----

sub help { print <<'HELP' }
devgate @VERSION@ for tasks on a proxy: it uses the open session with the task's device.

Usage:
  devgate session exec [--answer TEXT]... [--noop] COMMAND...
  devgate session exec --config [--save] [--noop] LINE...
  devgate session get WHAT
  devgate session set [--method METHOD] [--noop] WHAT [BODY]

`-` instead of COMMAND, LINE or BODY reads standard input.
The session is on the node that runs devgate, and ends with the task.
Another devgate on the PATH gets the commands that are not known here.
HELP

# Another devgate on the PATH may know what this one does not.
sub unknown {
    my $why = shift;
    my ($own) = $0 =~ m{^(.*)/};
    for my $folder (split /:/, $ENV{PATH} // "") {
        next if $folder eq "" || $folder eq ($own // "") || !-x "$folder/devgate" || -d _;
        exec { "$folder/devgate" } "devgate", @given;
    }
    fail("$why: the devgate of a task on a proxy has `session exec`, `session get` and `session set` for its own target,"
        . " without the options of other commands");
}

sub run_exec {
    my ($config, $save, $noop, $literal, @answers);
    while (@_ && $_[0] =~ /^-./) {
        my $option = shift;
        if ($option eq "--") { $literal = 1; last }
        if ($option eq "--config") { $config = 1 }
        elsif ($option eq "--save") { $save = 1 }
        elsif ($option eq "--noop") { $noop = 1 }
        elsif ($option eq "--answer" && @_) { push @answers, shift }
        elsif ($option =~ /^--answer=(.*)/s) { push @answers, $1 }
        else { unknown("`$option` is not known here") }
    }
    my @words = @_;
    if (!$literal) {
        my ($plain, @rest) = (1);
        for my $word (@words) {
            if ($plain && $word eq "--") { $plain = 0; next }
            fail("`$word` is after the command, where devgate reads no options: put it before the command, or after `--`"
                . " to send it to the device; nothing was sent") if $plain && $word =~ /^--/;
            push @rest, $word;
        }
        @words = @rest;
    }
    @words or fail("the following required arguments were not provided: <COMMAND>...");
    fail("--save requires --config") if $save && !$config;
    fail("--answer cannot be used with --config") if @answers && $config;
    my $input = @words == 1 && $words[0] eq "-";
    if ($config) {
        @words = lines_of(read_input()) if $input;
        if ($noop) {
            print "would send, as configuration:\n";
            show(hidden(join "\n", @words));
            print "would save the running configuration\n" if $save;
            return;
        }
        ask("\"configure\":[" . join(",", map { quoted($_) } @words) . "]");
        ask("\"save\":true") if $save;
        return;
    }
    my $answers = join ",", map { quoted($_) } @answers;
    my $send = sub {
        my $command = shift;
        return if $command !~ /\S/;
        if ($noop) { show("would send: " . hidden($command)); return }
        my $request = quoted($command);
        $request = "{\"command\":$request,\"answers\":[$answers]}" if @answers;
        show(unquoted(ask("\"exec\":$request")->{output} // $bad->()));
    };
    if ($input) {
        while (defined(my $line = <STDIN>)) { $line =~ s/\r?\n\z//; $send->($line) }
    }
    else { $send->(join " ", @words) }
}

sub run_get {
    shift if @_ && $_[0] eq "--";
    unknown("`session get` takes one argument") if @_ != 1 || $_[0] =~ /^-./;
    show_document(ask("\"get\":" . quoted(shift)));
}

sub run_set {
    my ($method, $noop, @words);
    while (@_) {
        my $word = shift;
        if ($word eq "--method" && @_) { $method = shift }
        elsif ($word =~ /^--method=(.*)/s) { $method = $1 }
        elsif ($word eq "--noop") { $noop = 1 }
        elsif ($word eq "--") { push @words, @_; last }
        elsif ($word =~ /^-[^0-9]/) { unknown("`$word` is not known here") }
        else { push @words, $word }
    }
    fail("specify what to set: WHAT, BODY or both") if !@words || @words > 2;
    my ($what, $body) = @words;
    ($what, $body) = ("", "-") if @words == 1 && $what eq "-";
    $body = read_input() if defined $body && $body eq "-";
    if ($noop) {
        my $line = join " ", $method // "", $what;
        $line =~ s/^\s+|\s+\z//g;
        print "would send: $line\n";
        show(hidden($body)) if defined $body;
        return;
    }
    my $request = "\"what\":" . quoted($what);
    $request .= ",\"method\":" . quoted($method) if defined $method;
    if (defined $body) {
        my $is_json = is_json($body);
        $body =~ tr/\r\n/  / if $is_json;
        $request .= ",\"body\":" . ($is_json ? $body : quoted($body));
    }
    show_document(ask("\"set\":{$request}"));
}

$| = 1;
binmode $_ for *STDIN, *STDOUT, *STDERR;
my ($session, $verb, @rest) = @ARGV;
my %commands = (exec => \&run_exec, get => \&run_get, set => \&run_set);
my $words = "@ARGV";
if ($words =~ /^(?:-h|--help|help|session(?: (?:exec|get|set))? (?:-h|--help))\z/) { help(); exit 0 }
if ($words =~ /^(?:-V|--version)\z/) { print 'devgate @VERSION@', "\n"; exit 0 }
my $command = ($session // "") eq "session" ? $commands{$verb // ""} : undef;
$command or unknown("`devgate @given` is not known here");
$command->(@rest);
exit 0;
