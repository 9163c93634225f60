/**
 * An observable value. Watchers are notified once per animation frame, or immediately for a user's
 * actions. Values are replaced, never mutated, so that watchers can compare by identity.
 */

import { useCallback, useSyncExternalStore } from "react";
import { onNextFrame } from "./frame.js";

type Watcher = () => void;

export class Store<T> {
  private readonly watchers = new Set<Watcher>();

  constructor(
    private value: T,
    private readonly pace: "frame" | "immediate" = "frame",
  ) {}

  get(): T {
    return this.value;
  }

  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    if (this.pace === "frame") onNextFrame(this.notify);
    else this.notify();
  }

  update(change: (value: T) => T): void {
    this.set(change(this.value));
  }

  readonly watch = (watcher: Watcher): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  private readonly notify = (): void => {
    for (const watcher of [...this.watchers]) watcher();
  };
}

/** The store's value or a part of it; the component renders again only if that part changed. */
export function useStore<T>(store: Store<T>): T;
export function useStore<T, Part>(store: Store<T>, part: (value: T) => Part): Part;
export function useStore<T, Part>(store: Store<T>, part?: (value: T) => Part): T | Part {
  const read = useCallback(
    () => (part === undefined ? store.get() : part(store.get())),
    [store, part],
  );
  return useSyncExternalStore(store.watch, read, read);
}
