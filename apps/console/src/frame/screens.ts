import { Database, House, type LucideIcon, MessagesSquare, Workflow } from 'lucide-react';

/** The screens of the main navigation. */
export const screens = [
  { to: '/$organization/$environment', name: 'home', icon: House, key: 'g p' },
  { to: '/$organization/$environment/conversations', name: 'conversations', icon: MessagesSquare, key: 'g i' },
  { to: '/$organization/$environment/executions', name: 'executions', icon: Workflow, key: 'g x' },
  { to: '/$organization/$environment/data', name: 'data', icon: Database, key: 'g d' },
] as const satisfies { to: string; name: string; icon: LucideIcon; key: string }[];
