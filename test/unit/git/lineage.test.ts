import { describe, expect, it } from 'vitest';
import { Lineage } from '../../../src/git/lineage.js';

describe('what comes before what', () => {
  it('holds for all later heads of the line', () => {
    const lineage = new Lineage();
    lineage.keep('base', 'one');
    lineage.keep('one', 'two');
    lineage.keep('two', 'three');

    expect(lineage.has('base', 'three')).toBe(true);
    expect(lineage.has('one', 'two')).toBe(true);
    expect(lineage.has('three', 'two')).toBe(false);
  });

  it('is not known of heads from before it was seen', () => {
    const lineage = new Lineage();
    lineage.keep('one', 'two');
    lineage.keep('two', 'three');
    lineage.keep('side', 'three');
    lineage.keep('three', 'four');

    expect(lineage.has('side', 'four')).toBe(true);
    expect(lineage.has('side', 'two')).toBe(false);
  });

  it('is forgotten with a line that was left', () => {
    const lineage = new Lineage();
    lineage.keep('one', 'two');

    lineage.keep('one', 'other');

    expect(lineage.has('one', 'other')).toBe(true);
    expect(lineage.has('two', 'other')).toBe(false);
    expect(lineage.has('one', 'two')).toBe(false);
  });

  it('is nothing of commits that nobody asked about', () => {
    expect(new Lineage().has('one', 'two')).toBe(false);
  });
});
