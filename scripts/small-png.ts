import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MOST_COLOURS = 256;
const FREQUENT_COLOURS = 128;
const RGB = 2;
const RGBA = 6;
const PALETTE = 3;

/** Pixels of three bytes each, row by row. */
interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Buffer;
}

/**
 * A picture of a page with at most 256 colours, which takes a third of the bytes: pages have few colours, and the others
 * are those of the edges of letters.
 *
 * @param png as Chromium writes it: eight bits for each channel, not interlaced.
 */
export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = decoded(png);
  const palette = paletteOf(pixels);
  const nearest = new Map<number, number>();
  const rows = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < width * height; at += 1) {
    const colour = pixels.readUIntBE(at * 3, 3);
    const index = nearest.get(colour) ?? nearestOf(colour, palette);
    nearest.set(colour, index);
    // Each row begins with its filter, which is none.
    rows[at + Math.floor(at / width) + 1] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, PALETTE], 8);
  const colours = Buffer.from(palette.flatMap(channelsOf));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(content.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

function decoded(png: Buffer): Picture {
  const [width, height, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25]];
  if (kind !== RGB && kind !== RGBA)
    throw new Error(`cannot read a picture of kind ${String(kind)}`);
  const parts: Buffer[] = [];
  for (let at = SIGNATURE.length; at < png.length; at += png.readUInt32BE(at) + 12) {
    const content = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(content);
  }
  const size = kind === RGB ? 3 : 4;
  const stride = width * size;
  const bytes = inflateSync(Buffer.concat(parts));
  let above = Buffer.alloc(stride);
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const start = y * (stride + 1);
    const row = Buffer.from(bytes.subarray(start + 1, start + 1 + stride));
    unfilter(row, above, bytes[start] ?? 0, size);
    for (let x = 0; x < width; x += 1) {
      row.copy(pixels, (y * width + x) * 3, x * size, x * size + 3);
    }
    above = row;
  }
  return { width, height, pixels };
}

/** Adds what the filter of a row took away, see the specification of PNG. */
function unfilter(row: Buffer, above: Buffer, filter: number, size: number): void {
  for (let at = 0; at < row.length; at += 1) {
    const left = at < size ? 0 : (row[at - size] ?? 0);
    const up = above[at] ?? 0;
    const corner = at < size ? 0 : (above[at - size] ?? 0);
    const added = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
    row[at] = (row[at] ?? 0) + added;
  }
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [left, up, corner].map((each) => Math.abs(left + up - corner - each));
  if (a === undefined || b === undefined || c === undefined) return 0;
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/** The most frequent colours, and then those that are farthest from all others, such as the red of a single mark. */
function paletteOf(pixels: Buffer): number[] {
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const all = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  const palette = all.slice(0, FREQUENT_COLOURS);
  const rest = all.slice(FREQUENT_COLOURS).map((colour) => {
    const nearest = palette[nearestOf(colour, palette)] ?? colour;
    return { colour, distance: distanceOf(colour, nearest) };
  });
  while (palette.length < Math.min(MOST_COLOURS, all.length)) {
    const farthest = rest.reduce((a, b) => (a.distance < b.distance ? b : a));
    palette.push(farthest.colour);
    for (const each of rest) {
      each.distance = Math.min(each.distance, distanceOf(each.colour, farthest.colour));
    }
  }
  return palette;
}

function nearestOf(colour: number, palette: readonly number[]): number {
  const distances = palette.map((each) => distanceOf(colour, each));
  return distances.indexOf(Math.min(...distances));
}

function distanceOf(one: number, other: number): number {
  const [a, b] = [channelsOf(one), channelsOf(other)];
  return a.reduce((sum, part, at) => sum + (part - (b[at] ?? 0)) ** 2, 0);
}

function channelsOf(colour: number): number[] {
  return [colour >> 16, (colour >> 8) & 0xff, colour & 0xff];
}
