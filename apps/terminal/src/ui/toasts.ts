/** Short messages that come and go. Errors stay until they are closed. */

import { Store } from "../state/store.js";

export interface Toast {
  readonly id: number;
  readonly kind: "good" | "bad" | "info";
  readonly title: string;
  readonly text?: string;
}

const SHOWN_MS = 6_000;
const MAX_SHOWN = 4;

export class Toasts {
  readonly list = new Store<readonly Toast[]>([], "at-once");
  private last = 0;

  show(kind: Toast["kind"], title: string, text?: string): void {
    const id = ++this.last;
    const toast: Toast = text === undefined ? { id, kind, title } : { id, kind, title, text };
    this.list.update((list) => [...list, toast].slice(-MAX_SHOWN));
    if (kind !== "bad") setTimeout(() => this.close(id), SHOWN_MS);
  }

  close(id: number): void {
    this.list.update((list) => list.filter((toast) => toast.id !== id));
  }
}
