// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// @title PlainERC1155
/// @notice A contract that is not Moneta's, for tests and for the tour of `npm start`. Anyone can mint.
contract PlainERC1155 is ERC1155 {
    constructor() ERC1155("https://plain.example/1155/{id}") {}

    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount, "");
    }

    function burn(address from, uint256 id, uint256 amount) external {
        _checkAuthorized(msg.sender, from);
        _burn(from, id, amount);
    }
}
