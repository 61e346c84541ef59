import { describe, expect, it } from 'vitest';
import { parseNotifyTarget } from '../../../../src/daemon/notify/formats.js';

describe('where messages go', () => {
  it.each([
    ['https://hooks.example.com/a?b=c', { format: 'json', url: 'https://hooks.example.com/a?b=c' }],
    ['slack=https://chat.example.com/h', { format: 'slack', url: 'https://chat.example.com/h' }],
    [
      'https://hooks.slack.com/services/T/B/X',
      { format: 'slack', url: 'https://hooks.slack.com/services/T/B/X' },
    ],
    [
      'https://prod-1.westeurope.logic.azure.com/workflows/X',
      { format: 'teams', url: 'https://prod-1.westeurope.logic.azure.com/workflows/X' },
    ],
    ['plain=https://ntfy.example.com/t', { format: 'plain', url: 'https://ntfy.example.com/t' }],
    ['json=http://127.0.0.1:9000/', { format: 'json', url: 'http://127.0.0.1:9000/' }],
  ])('is read from %s', (text, target) => {
    expect(parseNotifyTarget(text)).toEqual(target);
  });

  it.each([
    ['http://hooks.example.com/secret', 'https'],
    ['ftp://hooks.example.com/secret', 'https'],
    ['pager=https://hooks.example.com/secret', 'pager'],
    ['https://me:secret@hooks.example.com/', 'credentials'],
    ['hooks.example.com/secret', 'URL'],
    ['', 'URL'],
  ])('is not %j, and the error shows no secret', (text, words) => {
    const parse = () => parseNotifyTarget(text);

    expect(parse).toThrow(expect.objectContaining({ code: 'USAGE' }) as Error);
    expect(parse).toThrow(words);
    expect(parse).not.toThrow(/secret/);
  });
});
