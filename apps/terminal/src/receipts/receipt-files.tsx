/** Buttons that save the receipt and the proof of an order as files, for `perpgate judge` and `check`. */

import { useTerminal } from "../terminal.js";
import { saveFile } from "../ui/save-file.js";
import type { OrderResult } from "../venue/order-result.js";

export function ReceiptFiles({ result }: { readonly result: OrderResult }) {
  const { sessions } = useTerminal();
  const { ack, proofFile } = result;
  const saveReceipt = () => {
    const file = sessions.session?.receipts.of(ack.ackNonce);
    if (file === undefined) return;
    saveFile(`order-${ack.orderId}.receipt`, JSON.stringify(file, undefined, 2));
  };
  return (
    <div className="receipt-files">
      <button
        type="button"
        className="button small"
        disabled={sessions.session?.receipts.of(ack.ackNonce) === undefined}
        onClick={saveReceipt}
      >
        Save receipt
      </button>
      <button
        type="button"
        className="button small"
        disabled={proofFile === undefined}
        onClick={() => saveFile(`order-${ack.orderId}.proof`, proofFile ?? "")}
      >
        Save proof
      </button>
    </div>
  );
}
