/** Line icons, 16 × 16, hidden from screen readers. */

const PATHS = {
  chevron: "M4 6l4 4 4-4",
  close: "M4 4l8 8M12 4l-8 8",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  moon: "M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z",
  check: "M3.5 8.5l3 3 6-7",
  chart: "M4 2v12M4 4.5H2.5v6H4M4 4.5h1.5v6H4M11 2v12M11 5H9.5v5H11M11 5h1.5v5H11",
  book: "M2.5 3.5h11M2.5 6.5h7M2.5 9.5h9M2.5 12.5h5",
  trade: "M5 13V3M5 3L2.5 5.5M5 3l2.5 2.5M11 3v10M11 13l-2.5-2.5M11 13l2.5-2.5",
  wallet:
    "M2.5 4.5h10a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1zM2.5 4.5a1.5 1.5 0 0 1 1.5-1.5h7M10.5 9h.5",
  star: "M8 1.8l1.9 4 4.3.6-3.1 3 .7 4.3L8 11.7l-3.8 2 .7-4.3-3.1-3 4.3-.6z",
  keyboard: "M1.5 4.5h13v7.5h-13zM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.8h6",
  settings: "M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 3v3M5.5 10v3",
  wait: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.8V8l2.2 1.6",
  user: "M8 2.5a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2zM3 13.5a5 5 0 0 1 10 0",
  leave: "M6.5 2.5h-3v11h3M10 5l3 3-3 3M13 8H6.5",
  link: "M6 3.5H3.5v9h9V10M9.5 2.5h4v4M13.5 2.5L7.5 8.5",
} as const;

export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
