/** How a withdrawal of coins ended: it moved them, its transaction reverted, or another transaction used its nonce. */
export type WithdrawalOutcome = "sent" | "failed" | "replaced";
