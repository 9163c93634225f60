/**
 * A component in a file of its own, which is loaded after the first paint: when it is first rendered, or
 * once the page has nothing else to do. A page whose gateway is lost later has all of its files; one that
 * could not be loaded is asked for again until it is there, because a failed import would end the page.
 */

import { type ComponentType, lazy } from "react";

const AGAIN_MS = 1_000;

export function later<Props>(load: () => Promise<{ default: ComponentType<Props> }>) {
  const loadUntilThere = async () => {
    for (;;) {
      try {
        return await load();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  };
  requestIdleCallback(() => {
    load().catch(() => undefined);
  });
  return lazy(loadUntilThere);
}
