import { z } from 'zod';

export const healthSchema = z.object({
  status: z.literal('ok').describe('The process answers.'),
  timestamp: z.number().describe("The process's time, in Unix milliseconds."),
});
