#!/bin/sh
# Makes the secrets of a deployment in SECRETS_DIR (default ./secrets): random passwords, and the URLs and account files
# that contain them. Asks for what only you know. Files that exist are kept.
set -eu
dir=${SECRETS_DIR:-./secrets}
umask 077
mkdir -p "$dir"
# A directory that existed before may be readable by others.
chmod 700 "$dir"
# Each container runs as a different user, so every user may read the files; only you may enter the directory.
keep() {
  [ -e "$dir/$1" ] || printf '%s\n' "$2" > "$dir/$1"
  chmod 444 "$dir/$1"
}
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
ask() {
  [ -e "$dir/$1" ] && return
  printf '%s: ' "$2" >&2
  read -r answer
  keep "$1" "$answer"
}
for name in clickhouse clickhouse-reader postgres grafana kafka; do keep "$name-password" "$(random)"; done
keep clickhouse-url "http://bankroll:$(cat "$dir/clickhouse-password")@clickhouse:8123/bankroll"
reader=$(cat "$dir/clickhouse-reader-password")
keep clickhouse-reader "<clickhouse><reader_password>$reader</reader_password></clickhouse>"
keep clickhouse-reader-url "http://reader:$reader@clickhouse:8123/bankroll"
keep kafka-jaas "KafkaServer { org.apache.kafka.common.security.plain.PlainLoginModule required \
user_bankroll=\"$(cat "$dir/kafka-password")\"; };"
keep postgres-url "postgres://bankroll:$(cat "$dir/postgres-password")@postgres:5432/bankroll"
ask solana-rpc-url 'SOLANA_RPC_URL (https://…)'
ask yellowstone-x-token 'YELLOWSTONE_X_TOKEN'
echo "secrets are in $dir"
