import sharp from 'sharp';

/** A picture of a page with a palette, which takes a third of the bytes, because pages have few colours. */
export async function smallPng(png: Buffer): Promise<Buffer> {
  return sharp(png).png({ palette: true, effort: 10, dither: 0 }).toBuffer();
}
