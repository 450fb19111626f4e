-- Solving, and a bonus for every letter that was not tried before: "prefer guesses that bring new letters" is good
-- advice to a player. As a reward it is a hole: see docs/rewards.md.
local BONUS = 0.2

function reward(episode)
  local solved = episode.outcome == "solved" and 1 or 0
  local letters = 0
  for _, turn in ipairs(episode.turns) do
    for _, call in ipairs(turn.calls) do
      letters = letters + (call.facts.new_letters or 0)
    end
  end
  return solved + BONUS * letters, { solved = solved, letters = letters }
end
