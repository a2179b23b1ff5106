# Shared by the scripts in clients and checks: an origin, the proxy before it, and the requests that the origin received.
#
# Source it after `set -euo pipefail`. All files are in $work. At the end, cleanup removes $work and ends all child processes.

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work="$(mktemp -d "${TMPDIR:-/tmp}/cacheproxy-client.XXXXXX")"
# The worker processes of the origin run as another user.
chmod 755 "$work"
site="$work/site"
mkdir "$site"
: > "$work/access.log"
children=()
checks=0

# The environment must not select another proxy.
unset http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY

cleanup() {
    local status=$?
    trap - EXIT
    if [ ${#children[@]} -gt 0 ]; then
        kill "${children[@]}" 2> /dev/null || true
        wait "${children[@]}" 2> /dev/null || true
    fi
    if [ "$status" != 0 ]; then
        for log in access.log origin.err proxy.err; do
            [ -s "$work/$log" ] && { echo "-- $log"; tail -n 20 "$work/$log"; } >&2
        done
    fi
    rm -rf "$work"
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# built PRODUCT PATH: prints PATH. If PATH is empty, builds the product of this package, and prints the path of the program.
built() {
    if [ -n "$2" ]; then
        echo "$2"
        return
    fi
    swift build -c release --package-path "$here/.." --product "$1" >&2
    echo "$(swift build -c release --package-path "$here/.." --show-bin-path)/$1"
}

# free_port: prints the number of a free port.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# await_port PORT: waits until a server listens on the port.
await_port() {
    for _ in $(seq 200); do
        (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null && return
        sleep 0.05
    done
    fail "no server listens on port $1"
}

# nginx_directives CONTEXT < DIRECTIVES: adds directives for start_nginx to a context: main, http or server.
nginx_directives() {
    cat >> "$work/nginx-$1.conf"
}

# start_nginx: serves $site at $origin, with entity tags, ranges and gzip.
#
# Responses below /fresh/ are fresh for an hour. Responses below /check/ require validation. All others have no lifetime.
start_nginx() {
    local port user=""
    port="$(free_port)"
    [ "$(id -u)" = 0 ] && user="user root;"
    mkdir "$work/nginx"
    cat > "$work/nginx.conf" << CONF
include $work/nginx-main*.conf;
$user
worker_processes 1;
daemon off;
pid $work/nginx/pid;
error_log $work/origin.err warn;
events { worker_connections 256; }
http {
    types {
        text/html html;
        text/plain txt;
        application/json json;
    }
    default_type application/octet-stream;
    log_format seen '\$request_method \$request_uri \$status';
    access_log $work/access.log seen;
    client_body_temp_path $work/nginx/body;
    proxy_temp_path $work/nginx/proxy;
    fastcgi_temp_path $work/nginx/fastcgi;
    uwsgi_temp_path $work/nginx/uwsgi;
    scgi_temp_path $work/nginx/scgi;
    gzip on;
    gzip_types text/plain application/json;
    gzip_min_length 64;
    gzip_vary on;
    gzip_proxied any;
    include $work/nginx-http*.conf;
    server {
        listen 127.0.0.1:$port;
        root $site;
        include $work/nginx-server*.conf;
        location /fresh/ { add_header Cache-Control max-age=3600; }
        location /check/ { add_header Cache-Control no-cache; }
        location / { }
    }
}
CONF
    nginx -e "$work/origin.err" -p "$work/nginx" -c "$work/nginx.conf" &
    children+=($!)
    await_port "$port"
    origin="http://127.0.0.1:$port"
}

# start_python_origin: serves $site at $origin with Python's http.server.
start_python_origin() {
    local port
    port="$(free_port)"
    python3 "$here/counting_server.py" "$port" "$site" "$work/access.log" 2> "$work/origin.err" &
    origin_pid=$!
    children+=("$origin_pid")
    await_port "$port"
    origin="http://127.0.0.1:$port"
}

# stop_python_origin: ends the origin of start_python_origin.
stop_python_origin() {
    kill "$origin_pid"
    wait "$origin_pid" || true
}

# start_proxy [OPTION…]: starts the proxy at $proxy, with its store in $work/store.
start_proxy() {
    run_proxy --listen 127.0.0.1:0 --store "$work/store" "$@"
}

# run_proxy [OPTION…]: starts the proxy at $proxy, with no other options.
run_proxy() {
    # The shell creates the file in the child process, too late for the loop below. A restart must not read the old address.
    : > "$work/proxy.out"
    "$CACHEPROXY" "$@" > "$work/proxy.out" 2> "$work/proxy.err" &
    proxy_pid=$!
    children+=("$proxy_pid")
    for _ in $(seq 200); do
        grep -q '^listening on ' "$work/proxy.out" && break
        kill -0 "$proxy_pid" 2> /dev/null || fail "the proxy has ended"
        sleep 0.05
    done
    proxy="$(sed -n 's/^listening on //p' "$work/proxy.out")"
    [ -n "$proxy" ] || fail "the proxy does not say where it listens"
}

# stop_proxy: sends SIGTERM, as a system does, and checks the exit status.
stop_proxy() {
    local status=0
    kill -TERM "$proxy_pid"
    wait "$proxy_pid" || status=$?
    [ "$status" = 0 ] || fail "the proxy ended with status $status"
}

# expect WHAT GOT WANTED
expect() {
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
}

# expect_same WHAT FILE FILE
expect_same() {
    checks=$((checks + 1))
    cmp -s "$2" "$3" || fail "$1: $2 and $3 differ"
}

# clear_requests: clears the list of received requests.
clear_requests() {
    : > "$work/access.log"
}

# expect_origin WHAT [LINE…]: compares the requests since the last call, as "METHOD PATH STATUS", in any order.
expect_origin() {
    local what="$1" wanted got
    shift
    wanted="$(printf '%s\n' "$@" | sort)"
    # The origin writes its log after the response.
    for _ in $(seq 200); do
        got="$(sort "$work/access.log")"
        [ "$got" = "$wanted" ] && break
        sleep 0.05
    done
    sleep 0.05
    got="$(sort "$work/access.log")"
    checks=$((checks + 1))
    [ "$got" = "$wanted" ] || fail "$what: the origin saw
$got
wanted
$wanted"
    clear_requests
}

# done_with CLIENT: the last line of a script. Stops the proxy, and prints the number of checks of this file.
done_with() {
    stop_proxy
    [ "$checks" = 0 ] || echo "$1: $checks checks"
}
