import { ownValue } from '@parley/rows';
import {
  AlertTriangle,
  Ban,
  Check,
  CheckCheck,
  CheckCircle2,
  CircleDashed,
  CircleHelp,
  Clock,
  Loader,
  type LucideIcon,
  MinusCircle,
  PauseCircle,
  XCircle,
} from 'lucide-react';

const kinds: Record<string, [LucideIcon, string]> = {
  succeeded: [CheckCircle2, 'text-done'],
  failed: [XCircle, 'text-failed'],
  stalled: [AlertTriangle, 'text-failed'],
  running: [Loader, 'text-accent'],
  queued: [Clock, 'text-waiting'],
  stored: [MinusCircle, 'text-person'],
  cancelled: [Ban, 'text-n10'],
  dead: [XCircle, 'text-failed'],
  scheduled: [Clock, 'text-waiting'],
  held: [PauseCircle, 'text-waiting'],
  enabled: [CheckCircle2, 'text-done'],
  disabled: [MinusCircle, 'text-n10'],
  received: [Clock, 'text-waiting'],
  processed: [CheckCircle2, 'text-done'],
  ignored: [MinusCircle, 'text-n10'],
  unattributed: [CircleHelp, 'text-waiting'],
  rejected: [Ban, 'text-failed'],
  draft: [CircleDashed, 'text-n10'],
  pending: [Clock, 'text-waiting'],
  paid: [CheckCircle2, 'text-done'],
  sending: [Loader, 'text-accent'],
  sent: [Check, 'text-done'],
  delivered: [CheckCheck, 'text-done'],
  bounced: [XCircle, 'text-failed'],
  complained: [AlertTriangle, 'text-failed'],
  unknown: [CircleHelp, 'text-waiting'],
  active: [CheckCircle2, 'text-done'],
  expiring: [Clock, 'text-waiting'],
  expired: [Ban, 'text-n10'],
  revoked: [Ban, 'text-n10'],
  open: [Clock, 'text-waiting'],
  accepted: [CheckCircle2, 'text-done'],
  connected: [CheckCircle2, 'text-done'],
  missing: [AlertTriangle, 'text-waiting'],
  off: [MinusCircle, 'text-n10'],
};

/** A status as icon and word, never as colour alone. */
export function Status({ status, text }: { status: string; text: string }) {
  const [Icon, colour] = ownValue(kinds, status) ?? [CircleDashed, 'text-n10'];
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap ${colour}`}>
      <Icon aria-hidden size={14} strokeWidth={2} />
      {text}
    </span>
  );
}
