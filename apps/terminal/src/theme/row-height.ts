/** The height of a row of book and tape inside of an element, in pixels: layouts have their own. */
export function rowHeightIn(box: HTMLElement): number {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  return rem * Number.parseFloat(getComputedStyle(box).getPropertyValue("--row"));
}
