/**
 * Dragging the line of an order by its handle, the label at the right: elsewhere a line does not keep the
 * chart from being scrolled. The order moves when the pointer is released, and not at all after Escape.
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
  /** `isTouch` unless a mouse has moved it: fingers cover what they do. */
  drop(id: string, price: number, isTouch: boolean): void;
  /** Where the price axis begins. */
  axisX(): number;
}

/** Pixels. */
const REACH = 6;
const TOUCH_REACH = 14;
/** Of a handle left of the axis; on it is the label of the price. */
const HANDLE_WIDTH = 56;

/** Returns a function that stops it. */
export function dragLines(box: HTMLElement, surface: DragSurface): () => void {
  let dragged: (DragTarget & { readonly now: number }) | undefined;

  const targetAt = (event: PointerEvent): DragTarget | undefined => {
    const x = event.clientX - box.getBoundingClientRect().left;
    if (x < surface.axisX() - HANDLE_WIDTH) return undefined;
    const y = yIn(box, event);
    const reach = isTouch(event) ? TOUCH_REACH : REACH;
    const distance = ({ price }: DragTarget) =>
      Math.abs((surface.yOf(price) ?? Number.POSITIVE_INFINITY) - y);
    const [nearest] = surface.targets().toSorted((a, b) => distance(a) - distance(b));
    return nearest !== undefined && distance(nearest) <= reach ? nearest : undefined;
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
  const lift = (event: PointerEvent) => {
    if (dragged === undefined) return;
    const { id, price, now } = dragged;
    release();
    if (now !== price) surface.drop(id, now, isTouch(event));
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
  // Otherwise the browser scrolls the page with the finger that holds a line.
  const holdTouch = (event: TouchEvent) => {
    if (dragged !== undefined) event.preventDefault();
  };
  box.addEventListener("touchstart", holdTouch, { capture: true, passive: false, signal });
  box.addEventListener("pointermove", move, { signal });
  box.addEventListener("pointerup", lift, { signal });
  box.addEventListener("pointercancel", giveUp, { signal });
  window.addEventListener("keydown", handleKey, { signal });
  return () => listening.abort();
}

function isTouch({ pointerType }: PointerEvent): boolean {
  return pointerType !== "mouse";
}

function yIn(box: HTMLElement, event: PointerEvent): number {
  return event.clientY - box.getBoundingClientRect().top;
}
