/** Saves what proves an order of the history: its receipt, if this visit got one, and the proof of the log. */

import type { Order } from "@perpgate/protocol";
import { useTerminal } from "../terminal.js";
import { saveFile } from "../ui/save-file.js";
import { ActionButton } from "./action-button.js";

export function ProofButton({ order: { orderId, parentOrderId } }: { readonly order: Order }) {
  const terminal = useTerminal();
  // An exit is in the acknowledgement of its order.
  const ackNonce = parentOrderId ?? orderId;
  const receipt = terminal.sessions.session?.receipts.of(ackNonce);
  const saveProof = () =>
    terminal.attempt(async (session) => {
      saveFile(`order-${ackNonce}.proof`, await session.preconfirmProof(ackNonce));
    });
  const saveReceipt = () =>
    saveFile(`order-${ackNonce}.receipt`, JSON.stringify(receipt, undefined, 2));
  return (
    <span className="row">
      {receipt !== undefined && (
        <button
          type="button"
          className="button small"
          aria-label={`Save the receipt of order ${ackNonce}`}
          onClick={saveReceipt}
        >
          Receipt
        </button>
      )}
      <ActionButton label={`Save the proof of order ${orderId}`} act={saveProof}>
        Proof
      </ActionButton>
    </span>
  );
}
