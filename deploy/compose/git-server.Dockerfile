# A git server over ssh, for deploy/compose.yaml: one user, one key, nothing but git.
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-server \
    && rm -rf /var/lib/apt/lists/* /etc/ssh/ssh_host_* \
    && groupadd --gid 1000 git \
    && useradd --uid 1000 --gid git --no-create-home --home-dir /srv/git --shell /usr/bin/git-shell git
COPY sshd_config /etc/ssh/sshd_config
USER git
EXPOSE 2222
# Without privileges sshd lets in the user that it runs as, and no other.
ENTRYPOINT ["/usr/sbin/sshd", "-D", "-e", "-f", "/etc/ssh/sshd_config"]
