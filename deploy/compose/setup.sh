#!/bin/sh
# What the other containers find in their volumes. Makes only what is not there: a second start changes nothing.
set -eu
umask 077

# The image's user, who also runs the git server.
owner=1000:1000
cd /secrets

[ -e database-password ] || head -c 24 /dev/urandom | base64 | tr '+/' '-_' >database-password
[ -e pgpass ] || printf 'database:5432:*:flagkeel:%s\n' "$(cat database-password)" >pgpass
[ -e host-key ] || ssh-keygen -q -t ed25519 -N '' -C git -f host-key
[ -e git-key ] || ssh-keygen -q -t ed25519 -N '' -C flagkeel -f git-key
printf '[git]:2222 %s\n' "$(cut -d ' ' -f 1,2 host-key.pub)" >known-hosts
cp git-key.pub authorized-keys
# The password is the database's as well, which runs as another user.
chmod 755 .
chmod 644 database-password
chown -R "$owner" .

[ -e /srv/git/flags.git ] || {
  export GIT_AUTHOR_NAME=flagkeel GIT_AUTHOR_EMAIL=flagkeel@example.com
  export GIT_COMMITTER_NAME=flagkeel GIT_COMMITTER_EMAIL=flagkeel@example.com
  cp -R /specs-example /tmp/flags
  rm -rf /tmp/flags/.flagkeel
  git init --quiet --initial-branch=main /tmp/flags
  git -C /tmp/flags add --all
  git -C /tmp/flags commit --quiet --message 'Start with the flags of a small shop'
  # Under another name until it is whole.
  git clone --quiet --bare /tmp/flags /srv/git/new.git
  mv /srv/git/new.git /srv/git/flags.git
}
chown -R "$owner" /srv/git
