/**
 * Dragging the line of an order. Near a line the chart does not scroll; the order moves when the pointer
 * is released, and not at all after Escape.
 */

export interface DragTarget {
  readonly id: string;
  readonly price: number;
}

export interface DragSurface {
  /** The lines that can be dragged. */
  targets(): readonly DragTarget[];
  yOf(price: number): number | null;
  /** On the tick; null outside of the scale. */
  priceAt(y: number): number | null;
  setScrolling(isOn: boolean): void;
  move(id: string, price: number): void;
  drop(id: string, price: number): void;
}

/** Pixels. */
const REACH = 6;
const TOUCH_REACH = 14;

/** Returns a function that stops it. */
export function dragLines(box: HTMLElement, surface: DragSurface): () => void {
  let dragged: (DragTarget & { readonly now: number }) | undefined;

  const targetAt = (event: PointerEvent): DragTarget | undefined => {
    const y = yIn(box, event);
    const reach = event.pointerType === "touch" ? TOUCH_REACH : REACH;
    return surface.targets().find(({ price }) => {
      const at = surface.yOf(price);
      return at !== null && Math.abs(at - y) <= reach;
    });
  };
  const release = () => {
    dragged = undefined;
    box.style.cursor = "";
    surface.setScrolling(true);
  };
  const press = (event: PointerEvent) => {
    const target = event.button === 0 ? targetAt(event) : undefined;
    if (target === undefined) return;
    dragged = { ...target, now: target.price };
    surface.setScrolling(false);
    box.setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  const move = (event: PointerEvent) => {
    if (dragged === undefined) {
      const isNear = targetAt(event) !== undefined;
      box.style.cursor = isNear ? "ns-resize" : "";
      if (event.buttons === 0) surface.setScrolling(!isNear);
      return;
    }
    const now = surface.priceAt(yIn(box, event));
    if (now === null) return;
    dragged = { ...dragged, now };
    surface.move(dragged.id, now);
  };
  const lift = () => {
    if (dragged === undefined) return;
    const { id, price, now } = dragged;
    release();
    if (now !== price) surface.drop(id, now);
  };
  const giveUp = () => {
    if (dragged !== undefined) surface.move(dragged.id, dragged.price);
    release();
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === "Escape" && dragged !== undefined) giveUp();
  };
  const listening = new AbortController();
  const { signal } = listening;
  box.addEventListener("pointerdown", press, { capture: true, signal });
  box.addEventListener("pointermove", move, { signal });
  box.addEventListener("pointerup", lift, { signal });
  box.addEventListener("pointercancel", giveUp, { signal });
  window.addEventListener("keydown", handleKey, { signal });
  return () => listening.abort();
}

function yIn(box: HTMLElement, event: PointerEvent): number {
  return event.clientY - box.getBoundingClientRect().top;
}
