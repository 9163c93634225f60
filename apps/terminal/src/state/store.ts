/**
 * A value that parts of the page watch.
 *
 * Streams write into stores as fast as they come. Watchers hear of it once per animation frame, or
 * at once where a person acted and waits for the answer. A value is replaced, never changed in
 * place, so that a watcher can tell by identity whether its part is another.
 */

import { useCallback, useSyncExternalStore } from "react";
import { onNextFrame } from "./frame.js";

type Watcher = () => void;

export class Store<T> {
  private readonly watchers = new Set<Watcher>();

  constructor(
    private value: T,
    private readonly pace: "frame" | "at-once" = "frame",
  ) {}

  get(): T {
    return this.value;
  }

  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    if (this.pace === "frame") onNextFrame(this.tell);
    else this.tell();
  }

  update(change: (value: T) => T): void {
    this.set(change(this.value));
  }

  readonly watch = (watcher: Watcher): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  private readonly tell = (): void => {
    for (const watcher of [...this.watchers]) watcher();
  };
}

/** The store's value, or a part of it: the component renders again only when that part differs. */
export function useStore<T>(store: Store<T>): T;
export function useStore<T, Part>(store: Store<T>, part: (value: T) => Part): Part;
export function useStore<T, Part>(store: Store<T>, part?: (value: T) => Part): T | Part {
  const read = useCallback(
    () => (part === undefined ? store.get() : part(store.get())),
    [store, part],
  );
  return useSyncExternalStore(store.watch, read);
}
