/**
 * A page that checks the proof of an order or of reserves, or evidence of a broken promise, without any network. The
 * build puts this script, with everything that it needs, into one file; its policy allows no request.
 */

import {
  evidenceSummary,
  isEvidenceText,
  isReservesText,
  proofHeading,
  proofSummary,
  reservesSummary,
  reservesText,
} from "@perpgate/protocol/receipts";
import { checkEvidence, checkOrderProof, checkReservesFile } from "@perpgate/sdk";

const proof = element("proof", HTMLTextAreaElement);
const result = element("result", HTMLElement);

element("file", HTMLInputElement).addEventListener("change", async ({ target }) => {
  const [file] = target instanceof HTMLInputElement ? (target.files ?? []) : [];
  if (file !== undefined) proof.value = await file.text();
});

element("form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  void check();
});

async function check(): Promise<void> {
  const [logKey] = linesOf("key");
  const [required] = linesOf("require");
  const require = required === undefined ? undefined : Number(required);
  const keys = { logKey, witnessKeys: linesOf("witnesses"), require };
  const heading = proofHeading(logKey !== undefined);
  const tone = logKey === undefined ? "warn" : "good";
  if (isReservesText(proof.value)) {
    const reserves = await checkReservesFile(proof.value, keys);
    if (typeof reserves === "string") show("bad", "Not proven", reserves, []);
    else
      show(tone, heading, `${sentence(reservesText(reserves))}.`, reservesSummary(reserves, keys));
    return;
  }
  if (isEvidenceText(proof.value)) {
    const evidence = await checkEvidence(proof.value, keys);
    if (typeof evidence === "string") show("bad", "Not proven", evidence, []);
    else {
      const text = `The promise of position ${evidence.statement.position} is broken: ${evidence.verdict}.`;
      // What is proven is a broken promise.
      show("bad", heading, text, evidenceSummary(evidence, keys));
    }
    return;
  }
  const checked = await checkOrderProof(proof.value, keys);
  if (typeof checked === "string") {
    show("bad", "Not proven", checked, []);
    return;
  }
  const text = `Acknowledgement ${checked.leaf.ackNonce} is sealed.`;
  show(tone, heading, text, proofSummary(checked, keys));
}

function show(
  tone: "good" | "warn" | "bad",
  verdict: string,
  text: string,
  rows: readonly (readonly [string, string])[],
): void {
  const list = document.createElement("dl");
  for (const [label, value] of rows) {
    const shown = made("dd", value);
    // Side and status have a colour and an icon.
    if (label === "side" || label === "status") shown.className = value.split(",", 1)[0] ?? "";
    list.append(made("dt", label), shown);
  }
  result.replaceChildren(made("h2", verdict), made("p", text), ...(rows.length > 0 ? [list] : []));
  result.dataset.verdict = verdict;
  result.dataset.tone = tone;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function made(name: string, text: string): HTMLElement {
  const created = document.createElement(name);
  created.textContent = text;
  return created;
}

function linesOf(id: string): string[] {
  const { value } = element(id, HTMLTextAreaElement);
  return value.split("\n").flatMap((line) => line.trim() || []);
}

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`no element ${id}`);
  return found;
}
