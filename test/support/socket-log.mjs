// Loaded into the program under test with `--import`: notes every attempt to open a connection or to look a host up.
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import net from 'node:net';

const file = process.env.SOCKET_LOG;

function noting(object, method) {
  const original = object[method];
  object[method] = function (...args) {
    appendFileSync(file, `${method}\n`);
    return original.apply(this, args);
  };
}

noting(net.Socket.prototype, 'connect');
noting(dns, 'lookup');
noting(dns.promises, 'lookup');
