import { CancelMessage } from "@perpgate/protocol";
import { chargeOperation } from "../../limits/charge-operation.js";
import { cancelOrder } from "../../operations/cancel-order.js";
import { defineSocketOperation } from "./operation.js";
import { pathCall, requireSession } from "./rest-call.js";

export const cancel = defineSocketOperation({
  message: CancelMessage,
  handle: ({ orderId }, call, { gateway }) => {
    const account = requireSession(call);
    chargeOperation(gateway.budgets, call, cancelOrder, account, call.header);
    const answer = cancelOrder.answer(pathCall(call, { id: orderId }), gateway);
    call.answerWith(answer, (canceled) => ({ canceled }));
    return undefined;
  },
});
