#!/bin/sh
# Makes the daemon's Admin API key, once. It is in the database as a hash and in the file alone.
set -eu
umask 077
cd /secrets
[ -s api-key ] && exit
# A start that was cut off may have left the key here: the database knows its name, and gives its text no second time.
[ -s new-key ] ||
  node /app/dist/main.js service keys create daemon --database=postgres://flagkeel@database/flagkeel >new-key
mv new-key api-key
