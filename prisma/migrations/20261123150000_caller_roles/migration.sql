-- Roles that restrict the caller of a turn: its model gets only the earlier turns with the same roles.
alter table executions add column caller_roles text;
