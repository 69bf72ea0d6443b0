export const paymentStates = ['draft', 'pending', 'paid', 'failed'];
