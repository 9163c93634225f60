import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { joinNewest, joinOlder, PAGE_ROWS, PagedList, type PageQuery } from "./paged-list.js";

/** Rows are their own ids: "9" is newer than "8". */
const idOf = (row: string) => row;

/** The venue's list of `length` rows, newest first, before a row. */
function pageOf(length: number, before = String(length + 1)): string[] {
  const first = Number(before) - 1;
  return Array.from({ length: Math.min(PAGE_ROWS, first) }, (_, at) => String(first - at));
}

const whole = (rows: readonly string[]) => ({ rows, isCut: false });
const join = (known: Parameters<typeof joinNewest<string>>[0], page: readonly string[]) =>
  joinNewest(known, whole(page), idOf);

describe("rows of the account in pages", () => {
  test("a list that grows for hours: the oldest rows leave it and can be asked for again", () => {
    let list = join(undefined, pageOf(60));
    for (let length = 61; length <= 2_000; length++) list = join(list, pageOf(length));
    expect(list.rows).toHaveLength(250);
    expect([list.rows[0], list.rows.at(-1), list.hasMore]).toEqual(["2000", "1751", true]);
    const older = joinOlder(list, whole(pageOf(2_000, "1751")), "1751", idOf);
    expect(older?.rows).toHaveLength(300);
    // Rows that were asked for stay.
    expect(join(older, pageOf(2_001)).rows.at(-1)).toBe("1701");
  });

  test("a short list that has outgrown its limit: there is more, although all of it was known", () => {
    let list = join(undefined, pageOf(3));
    for (let length = 4; length <= 300; length++) list = join(list, pageOf(length));
    expect(list.hasMore).toBe(true);
  });

  test("a whole page of new rows: the list begins again, without a gap", () => {
    const older = joinOlder(join(undefined, pageOf(100)), whole(pageOf(100, "51")), "51", idOf);
    const list = join(older, pageOf(149));
    expect(list.rows).toHaveLength(149);
    expect(join(list, pageOf(300))).toEqual({
      ...whole(pageOf(300)),
      hasMore: true,
      paged: PAGE_ROWS,
    });
  });

  test("an older page for a list that began again meanwhile: left out", () => {
    const list = join(join(undefined, pageOf(100)), pageOf(300));
    expect(joinOlder(list, whole(pageOf(100, "51")), "51", idOf)).toBe(list);
  });

  test("accrued funding, another id with every read: one row", () => {
    const short = join(join(undefined, ["9-accrued", "2", "1"]), ["12-accrued", "2", "1"]);
    expect(short.rows).toEqual(["12-accrued", "2", "1"]);
    const rest = pageOf(80).slice(1);
    const long = join(join(undefined, ["900-accrued", ...rest]), ["950-accrued", ...rest]);
    expect(long.rows).toEqual(["950-accrued", ...rest]);
  });
});

test("a list that ends where the venue's history begins: cut, until its end has left the page", () => {
  const cut = (rows: readonly string[]) => ({ rows, isCut: true });
  expect(joinNewest(undefined, cut(pageOf(3)), idOf).isCut).toBe(true);
  let list = joinOlder(join(undefined, pageOf(80)), cut(pageOf(80, "31")), "31", idOf);
  expect(list).toMatchObject({ hasMore: false, isCut: true });
  for (let length = 81; length <= 200; length++) list = join(list, pageOf(length));
  expect(list).toMatchObject({ hasMore: false, isCut: true });
  for (let length = 201; length <= 400; length++) list = join(list, pageOf(length));
  expect(list).toMatchObject({ hasMore: true, isCut: false });
});

describe("PagedList", () => {
  let pending: { readonly query: PageQuery; answer(): void }[] = [];
  let length = 0;
  const load = (query: PageQuery) =>
    new Promise<readonly string[]>((resolve) => {
      // The venue reads the list when the request arrives.
      const page = pageOf(length, query.before);
      pending.push({ query, answer: () => resolve(page) });
    });
  const answer = async () => {
    pending.shift()?.answer();
    await vi.advanceTimersByTimeAsync(0);
  };

  beforeEach(() => {
    pending = [];
    vi.useFakeTimers();
    vi.stubGlobal("requestAnimationFrame", (callback: () => void) => setTimeout(callback));
  });
  afterEach(() => {
    // The frame that is still to come. Not what other files of this worker have left and repeat for ever.
    vi.runOnlyPendingTimers();
    vi.useRealTimers();
  });

  test("a change while a page is read: read again, without another change", async () => {
    length = 100;
    const pages = new PagedList(load, idOf);
    pages.start();
    length = 101;
    pages.reload();
    await answer();
    expect(pages.list.get()?.rows[0]).toBe("100");
    await vi.advanceTimersByTimeAsync(200);
    await answer();
    expect(pages.list.get()?.rows[0]).toBe("101");
    pages.close();
  });

  test("a change while an older page is read: both arrive; the page asked for twice is there once", async () => {
    length = 120;
    const pages = new PagedList(load, idOf);
    pages.start();
    await answer();
    const twice = [pages.more(), pages.more()];
    length = 121;
    pages.reload();
    await vi.advanceTimersByTimeAsync(200);
    expect(pending.map(({ query }) => query.before)).toEqual(["71", "71", undefined]);
    pending.reverse();
    while (pending.length > 0) await answer();
    await Promise.all(twice);
    expect(pages.list.get()?.rows).toEqual(
      Array.from({ length: 101 }, (_, at) => String(121 - at)),
    );
    pages.close();
  });
});
