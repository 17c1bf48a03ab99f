# Certificates for the lab's servers. Source it after lib.sh: it defines functions only.

# make_pki FOLDER: an authority `ca`, `server` for localhost and 127.0.0.1, `elsewhere` for another name, `expired`,
# a `client` of the authority, and a `stranger` that signed itself; each .pem with its .key.
make_pki() {
    local P=$1
    rm -rf "$P"
    mkdir -p "$P"
    certificate "$P" ca -x509 -days 3650 -subj "/CN=lab authority"
    certificate "$P" stranger -x509 -days 3650 -subj "/CN=stranger"
    signed "$P" server localhost 3650 DNS:localhost,IP:127.0.0.1
    signed "$P" elsewhere elsewhere 3650 DNS:sw9.example.com
    signed "$P" expired localhost 0 DNS:localhost,IP:127.0.0.1
    signed "$P" client root 3650 DNS:client
}

# certificate FOLDER NAME OPTION...: a key, and a certificate or a request for one.
certificate() {
    local P=$1 name=$2
    shift 2
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$P/$name.key" -out "$P/$name.pem" "$@" \
        2>/dev/null || die "openssl makes no certificate $name"
}

# signed FOLDER NAME CN DAYS NAMES: a certificate of the authority.
signed() {
    certificate "$1" "$2" -subj "/CN=$3"
    openssl x509 -req -in "$1/$2.pem" -CA "$1/ca.pem" -CAkey "$1/ca.key" -CAcreateserial -days "$4" -out "$1/$2.signed" \
        -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$5") 2>/dev/null ||
        die "openssl signs no certificate $2"
    mv "$1/$2.signed" "$1/$2.pem"
}

# dated FOLDER NAME FROM UNTIL: a certificate of the authority for localhost, good between two dates as `date` reads them.
dated() {
    local P=$1 name=$2 from until
    from=$(date -u -d "$3" +%y%m%d%H%M%SZ)
    until=$(date -u -d "$4" +%y%m%d%H%M%SZ)
    certificate "$P" "$name" -subj "/CN=localhost"
    : >"$P/issued"
    cat >"$P/ca.cnf" <<X
[ca]
default_ca = lab
[lab]
database = $P/issued
serial = $P/serial
new_certs_dir = $P
default_md = sha256
policy = any
[any]
commonName = supplied
[names]
subjectAltName = DNS:localhost,IP:127.0.0.1
X
    openssl ca -batch -notext -rand_serial -config "$P/ca.cnf" -extensions names -cert "$P/ca.pem" -keyfile "$P/ca.key" \
        -startdate "$from" -enddate "$until" -in "$P/$name.pem" -out "$P/$name.signed" 2>/dev/null ||
        die "openssl signs no certificate $name"
    mv "$P/$name.signed" "$P/$name.pem"
}
