import { BlockList, isIP } from 'node:net';
import { FlagkeelError } from '../errors.js';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names by the scheme of the URL and `NO_PROXY`, names in lower case first, as in curl.
 *
 * @returns null for a direct connection, which loopback always gets: a proxy would look for the host on its own machine.
 * @throws FlagkeelError `USAGE`
 */
export function proxyFor(url: string, variables: Variables = process.env): URL | null {
  const name = new URL(url).protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = valueOf(name, variables);
  if (proxy === '' || isLoopback(url)) return null;
  return isExcepted(new URL(url), valueOf('NO_PROXY', variables)) ? null : proxyIn(proxy, name);
}

/** By name or address alone; does not resolve names. */
export function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

/** @param host in lower case; an address of IPv6 with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  return (
    host === 'localhost' || withoutBrackets(host) === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

function valueOf(name: string, variables: Variables): string {
  return (variables[name.toLowerCase()] ?? variables[name] ?? '').trim();
}

/** The text may hold a password, so the message does not repeat it. */
function proxyIn(text: string, name: string): URL {
  const url = text.includes('://') ? text : `http://${text}`;
  const proxy = URL.canParse(url) ? new URL(url) : null;
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy;
  const why = 'it has to be such as http://proxy.example.com:3128';
  throw new FlagkeelError('USAGE', `cannot use the proxy in ${name}: ${why}`);
}

/** @param list hosts, domains, addresses and networks (`10.0.0.0/8`), with or without a port; `*` means all. */
function isExcepted({ protocol, hostname, port }: URL, list: string): boolean {
  const host = withoutBrackets(hostname);
  const ownPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return list.split(/[\s,]+/).some((entry) => {
    const wantedPort = isIP(entry) === 0 ? /:(\d+)$/.exec(entry)?.[1] : undefined;
    if (wantedPort !== undefined && wantedPort !== ownPort) return false;
    const name = wantedPort === undefined ? entry : entry.slice(0, -wantedPort.length - 1);
    const wanted = withoutBrackets(name.replace(/^\*?\./, '').toLowerCase());
    if (wanted === '') return false;
    return (
      wanted === '*' || host === wanted || host.endsWith(`.${wanted}`) || isInNetwork(host, wanted)
    );
  });
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

function isInNetwork(address: string, network: string): boolean {
  const [, start = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(network) ?? [];
  const version = isIP(start);
  if (version === 0 || isIP(address) !== version || Number(bits) > (version === 4 ? 32 : 128)) {
    return false;
  }
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(start, Number(bits), family);
  return list.check(address, family);
}
