import type { Browser } from 'playwright-core';

/** A labelled picture as PNG. */
export interface Picture {
  name: string;
  png: Buffer;
}

/** Returns a WebP screenshot of an HTML page, which Chromium supports and Playwright does not. */
async function webpOf(browser: Browser, html: string, width: number, quality: number): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width, height: 1 } });
  try {
    await page.setContent(html);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width, height });
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'webp',
      quality,
      captureBeyondViewport: true,
    });
    return Buffer.from(data, 'base64');
  } finally {
    await page.close();
  }
}

const image = ({ png }: Picture, style: string): string =>
  `<img style="${style}" src="data:image/png;base64,${png.toString('base64')}">`;

/** One picture as WebP, in its own size. */
export async function compress(browser: Browser, picture: Picture, width: number): Promise<Buffer> {
  return webpOf(browser, `<body style="margin:0">${image(picture, 'display:block;width:100%')}`, width, 85);
}

/** All pictures in rows, at a third of their size, as WebP. */
export async function contactSheet(browser: Browser, rows: Picture[][]): Promise<Buffer> {
  const cell = (picture: Picture) =>
    `<figure style="margin:0">${image(picture, 'zoom:0.36')}<figcaption>${picture.name}</figcaption></figure>`;
  const body = rows.map(
    row => `<div style="display:flex;gap:8px;margin-bottom:12px;align-items:start">${row.map(cell).join('')}</div>`,
  );
  return webpOf(browser, `<body style="margin:8px;background:#999;font:11px sans-serif">${body.join('')}`, 1180, 45);
}
