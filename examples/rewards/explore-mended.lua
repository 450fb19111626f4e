-- explore.lua mended: what the letters are worth to a player is what they tell, so the bonus is the share of the bits
-- learned, it can be had once, and no loss can earn what a solve does.
local BONUS = 0.2

function reward(episode)
  local solved = episode.outcome == "solved" and 1 or 0
  return solved + BONUS * episode.parts.narrowed, { solved = solved, narrowed = episode.parts.narrowed }
end
