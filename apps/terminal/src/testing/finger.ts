/** A finger on a page, by the touch events of the browser: what it does scrolls, taps and drags for real. */

import type { CDPSession, Locator, Page } from "playwright-core";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export class Finger {
  private constructor(private readonly devtools: CDPSession) {}

  /** The page is one of a touch screen until `lift`. */
  static async on(page: Page): Promise<Finger> {
    const finger = new Finger(await page.context().newCDPSession(page));
    await finger.devtools.send("Emulation.setTouchEmulationEnabled", { enabled: true });
    return finger;
  }

  /** In the middle of the element, which must be the one that is there. */
  async tap(target: Locator): Promise<void> {
    await target.scrollIntoViewIfNeeded();
    await target.click({ trial: true });
    const at = await middleOf(target);
    await this.touch("touchStart", at);
    await this.touch("touchEnd");
  }

  async drag({ x, y }: Point, by: Partial<Point>): Promise<void> {
    await this.touch("touchStart", { x, y });
    for (const part of [0.25, 0.5, 0.75, 1]) {
      await this.touch("touchMove", { x: x + (by.x ?? 0) * part, y: y + (by.y ?? 0) * part });
    }
    await this.touch("touchEnd");
  }

  async lift(): Promise<void> {
    await this.devtools.send("Emulation.setTouchEmulationEnabled", { enabled: false });
  }

  private async touch(
    type: "touchStart" | "touchMove" | "touchEnd",
    ...touchPoints: Point[]
  ): Promise<void> {
    await this.devtools.send("Input.dispatchTouchEvent", { type, touchPoints });
  }
}

export async function middleOf(target: Locator): Promise<Point> {
  const box = await target.boundingBox();
  if (box === null) throw new Error(`not shown: ${target}`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
